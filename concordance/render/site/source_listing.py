"""Source pages: a file as numbered lines of HTML, with every name a link, and remarks in the margin.

In: a `Listing`. Out: the page's content. The whole text is converted at once and then split into lines, which is fast
enough for a file of twenty thousand lines.

Elements that styles and scripts rely on:

    div.source[data-of] (the file's digest, for scripts that add something to its lines)
    > div.chunk (200 lines) > span.line#L12 > a.n (the number) + code + span.margin
    in code: i.c comment, i.s string, i.n number, i.k keyword, i.p directive, i.h heading
             a.t .f .v .m .o   a reference to a type, function, value, module or file, other; `a.d` is a definition
                               and links to its own page; b.t ... a definition without a page of its own
             span.x[title]     a name from outside the repository
             data-c            the definition's key in the hover cards of the file that `href` points to
             data-t            trust, if it is not "exact"; data-by the reason; data-also more addresses, by spaces
    in the margin: a.finding[data-severity], span.finding, a.tests, span.tests
    p.parts: links to the other parts of a long source
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from concordance.base.blocks import Ref, To, count_noun
from concordance.base.characters import escape_hidden, has_hidden_characters
from concordance.base.model import EXECUTABLE_KINDS, TYPE_KINDS, Kind, Trust
from concordance.query.sections.listing import LineRemark, LinkTarget, Listing
from concordance.render.addresses import anchor
from concordance.render.site.addresses import LINES, SiteAddresses
from concordance.render.site.html import Body

_EMPTY = "\n"  # content of an empty line: without it, copying lines would lose it
OF = 16  # characters of a file's digest
CHUNK = 200  # lines that the browser lays out together, and skips while they are out of sight
_SIGNS = {"error": "✖", "warning": "▲", "info": "●"}
_PLAIN = {letter: (f'<i class="{letter}">', "</i>") for letter in "csnkph"}
_OTHER = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL, Kind.TARGET))
_MODULES = frozenset(("file", Kind.MODULE, Kind.NAMESPACE))


def render(listing: Listing, addresses: SiteAddresses) -> Body:
    """Render a page of a source file."""
    page = addresses.page(Ref(To.SOURCE, listing.path, part=listing.part))
    name = escape(escape_hidden(listing.path))
    title = f"{listing.path}, part {listing.part} of {listing.parts}" if listing.parts > 1 else listing.path
    out = [f'<h1 class="path"><code>{name}</code></h1>\n']
    if listing.text is None:
        out.append(f"<p>{escape(escape_hidden(listing.why))}</p>\n")
    elif not listing.text:
        out.append("<p>The file is empty.</p>\n")
    else:
        parts = _part_links(listing, addresses, page) if listing.parts > 1 else ""
        out += [parts, *_lines(listing, addresses, page), parts]
    return Body(escape_hidden(title), "".join(out), [])


def _part_links(listing: Listing, addresses: SiteAddresses, page: str) -> str:
    """Return links to the parts of a long source."""
    links = []
    for part in range(1, listing.parts + 1):
        first = (part - 1) * LINES + 1
        label = f"from line {first:,}"
        there = escape(addresses.to(page, addresses.page(Ref(To.SOURCE, listing.path, part=part))))
        links.append(f"<b>{label}</b>" if part == listing.part else f'<a href="{there}">{label}</a>')
    return f'<p class="parts">{listing.parts} parts: {" · ".join(links)}</p>\n'


def _lines(listing: Listing, addresses: SiteAddresses, page: str) -> Iterator[str]:
    lines = _code(listing, addresses, page).split("\n")
    if lines[-1] == "":
        lines.pop()  # nothing follows the last line end
    margin = _margin(listing, addresses, page)
    yield f'<div class="source" data-of="{listing.digest[:OF]}">\n'
    for begin in range(0, len(lines), CHUNK):
        rows = []
        for number, line in enumerate(lines[begin : begin + CHUNK], listing.first + begin):
            remark = margin.get(number, "")
            rows.append(
                f'<span class="line" id="L{number}"><a class="n" href="#L{number}" tabindex="-1">{number}</a>'
                f"<code>{line or _EMPTY}</code>{remark}</span>\n"
            )
        yield f'<div class="chunk">{"".join(rows)}</div>\n'
    yield "</div>\n"


# --- the text


def _code(listing: Listing, addresses: SiteAddresses, page: str) -> str:
    """Return the marked-up text; no tag spans a line end."""
    text = listing.text or ""
    # A carriage return at a line end counts as a hidden character, too.
    shown = _escape_visible if has_hidden_characters(text) else _escape_plain
    tags = _Tags(listing, addresses, page)
    out: list[str] = []
    at = 0
    for start, end, goal, letter in _merge_spans(listing, len(text)):
        if start > at:
            out.append(shown(text, at, start))
        inner = shown(text, start, end)
        opening, closing = tags.of(goal) if goal >= 0 else _PLAIN[letter]
        if "\n" in inner:
            out.append("\n".join(f"{opening}{line}{closing}" if line else "" for line in inner.split("\n")))
        else:
            out.append(f"{opening}{inner}{closing}")
        at = end
    out.append(shown(text, at, len(text)))
    return "".join(out)


def _merge_spans(listing: Listing, size: int) -> Iterator[tuple[int, int, int, str]]:
    """Yield names and the comments, strings and so on around them, in text order; a name splits its span."""
    names = iter(listing.names)
    name = next(names, None)
    at = 0
    for start, end, letter in [*listing.spans, (size, size, "")]:
        while name is not None and name[0] < end:
            if name[0] >= at:
                if start < name[0] and max(start, at) < name[0]:
                    yield max(start, at), name[0], -1, letter
                yield name[0], name[1], name[2], ""
                at = name[1]
            name = next(names, None)
        if max(start, at) < end:
            yield max(start, at), end, -1, letter
            at = end


def _escape_plain(text: str, start: int, end: int) -> str:
    """Return a part of the text as HTML; the text has no hidden characters."""
    piece = text[start:end]
    return escape(piece, False) if "&" in piece or "<" in piece or ">" in piece else piece


def _escape_visible(text: str, start: int, end: int) -> str:
    """Return a part of the text as HTML; the text has hidden characters or mixed line ends."""
    piece = text[start:end]
    if "\r" in piece:
        if piece[-1] == "\r" and text[end : end + 1] == "\n":
            piece = piece[:-1]
        piece = piece.replace("\r\n", "\n").replace("\r", "\n")
    return escape(escape_hidden(piece), False)


class _Tags:
    """Opening and closing tags of names by target, built once for all occurrences."""

    def __init__(self, listing: Listing, addresses: SiteAddresses, page: str) -> None:
        self._goals, self._addresses, self._page = listing.goals, addresses, page
        self._cache: dict[int, tuple[str, str]] = {}

    def of(self, goal: int) -> tuple[str, str]:
        known = self._cache.get(goal)
        if known is None:
            known = self._cache[goal] = self._build_tags(self._goals[goal])
        return known

    def _build_tags(self, goal: LinkTarget) -> tuple[str, str]:
        if not goal.kind:
            return f'<span class="x" title="{_escape_attribute(goal.by)}">', "</span>"
        letter = _letter(goal.kind)
        if goal.own and not goal.page:
            return f'<b class="{letter}">', "</b>"
        if goal.own:
            there = self._addresses.link(self._page, Ref(To.DEFINITION, goal.path, goal.key))
            return f'<a class="d {letter}" href="{escape(there)}" data-c="{escape(anchor(goal.key))}">', "</a>"
        there = self._addresses.source(self._page, goal.path, goal.line if goal.key or goal.kind != "file" else 0)
        more = f' data-c="{escape(anchor(goal.key))}"' if goal.key else ""
        if goal.trust != Trust.EXACT:
            more += f' data-t="{goal.trust.name.lower()}"'
        if goal.by:
            more += f' data-by="{_escape_attribute(goal.by)}"'
        if goal.also:
            others = (self._addresses.source(self._page, path, line) for path, line in goal.also)
            more += f' data-also="{escape(" ".join(others))}"'
        return f'<a class="{letter}" href="{escape(there)}"{more}>', "</a>"


def _escape_attribute(words: str) -> str:
    return escape(escape_hidden(words))


def _letter(kind: str) -> str:
    """Return the class of a name: type, function, value, module or other."""
    if kind in TYPE_KINDS or kind == Kind.TYPE:
        return "t"
    if kind in EXECUTABLE_KINDS or kind == Kind.OPERATOR:
        return "f"
    return "m" if kind in _MODULES else "o" if kind in _OTHER else "v"


# --- the margin


def _margin(listing: Listing, addresses: SiteAddresses, page: str) -> dict[int, str]:
    remarks_by_line: dict[int, list[str]] = {}
    for remark in listing.remarks:
        remarks_by_line.setdefault(remark.line, []).append(_remark(listing, remark, addresses, page))
    return {line: f'<span class="margin">{" ".join(remarks)}</span>' for line, remarks in remarks_by_line.items()}


def _remark(listing: Listing, remark: LineRemark, addresses: SiteAddresses, page: str) -> str:
    finding = remark.finding
    if finding is None:
        label = f"{count_noun(remark.tests, 'test')}"
        title = f"{count_noun(remark.tests, 'test')} refer{'s' if remark.tests == 1 else ''} to it"
        if not remark.key:
            return f'<span class="tests" title="{title}">{label}</span>'
        there = addresses.link(page, Ref(To.DEFINITION, listing.path, remark.key))
        return f'<a class="tests" href="{escape(there)}#tests" title="{title}">{label}</a>'
    sign = _SIGNS.get(finding.severity, "●")
    severity, rule, message = map(_escape_attribute, (finding.severity, finding.by, finding.message))
    words = f"{sign} {severity} {rule}: {message}"
    if not remark.has_rule_page:
        return f'<span class="finding" data-severity="{severity}">{words}</span>'
    there = escape(addresses.link(page, Ref(To.RULE, finding.by)))
    return f'<a class="finding" data-severity="{severity}" href="{there}">{words}</a>'
