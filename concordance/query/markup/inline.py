"""Converts the inline markup of a paragraph to Markdown: roles, code, links and emphasis; all else is escaped.

In: a paragraph as the author wrote it, in reST, Doxygen, Javadoc, Markdown or without markup. Out: Markdown that a
CommonMark parser shows as the author's tools would. Text that is not recognised as markup is escaped, so that nothing
becomes HTML, a link or a heading by accident. A link to a symbol is represented by its number between two NULs, because
the text around it is not complete yet; `markup/__init__.py` replaces it by the `Ref`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from concordance.base.blocks import Picture, Ref

LinkResolver = Callable[[str], Ref | None]


class DocumentTargets(Protocol):
    """What a document can refer to, besides symbols; a documentation comment refers to nothing else."""

    def document(self, name: str) -> tuple[Ref, str] | None:
        """Return a link to a document by its name in Sphinx, labelled with its title, and its path."""

    def section(self, name: str) -> Ref | None:
        """Return a link to the section that has a name in Sphinx, labelled with its title."""

    def picture(self, target: str, label: str) -> Picture | None:
        """Return the picture at a target as written."""


_SPECIAL = re.compile(r"[\\`*_<&\[~$|{@%#>]|::|:`|//|\(\)|!$")
_ESCAPED = re.compile(
    r"\\(?![^\W_]|[ ])|[`\[~$]|(?<!\s)\*++|\*++(?!\s|$)|<(?![ \d=\n])|&(?=\#?\w{1,40};|$)|!$|"
    r"(?<![^\W_])_++|_++(?![^\W_])"
)
_LINE_START = re.compile(
    r"^[ ]*+(?:(?=\#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|=++[ ]*+$|-++[ ]*+$|[|:-][-|: ]*+$)|(\d{1,9})(?=[.)](?:\s|$)))", re.M
)
_MARGIN = re.compile(r"^[ ]+", re.M)
_NAME = re.compile(r"[~.]?[A-Za-z_$][\w$]*+(?:(?:\.|::|#|->)~?[A-Za-z_$][\w$]*+)*+(?:\(\))?")
_TITLED = re.compile(r"(.+?)(?<!\s)\s*+<([^<>]++)>", re.S)
_SAFE = re.compile(r"(?:https?://|mailto:)[^\s<>\\]+", re.I)
_CALL = re.compile(r"(?<![\w.`/])(?:[A-Za-z_]\w*+(?:::~?\w++)*+\(\)|[A-Za-z_]\w*+(?:::~?[A-Za-z_]\w*+)++)(?!\w)")
_LOOSE_END = re.compile(r"(?<![.,;:!?'\"*])[.,;:!?'\"*]++$")

# For speed, every token pattern starts with one character class of the possible first characters. Each alternative then
# uses lookbehinds to check which character that was and what precedes it.
_COMMON = (
    r"(?<=`)(?<!``)(?P<code>(?P<ticks>`*+)(?!`)(?P<inside>.{1,2000}?)(?<!`)`(?P=ticks)(?!`)(?P<under>__?(?!\w))?)",
    r"(?<=\*)(?<![\w*\\]\*)(?P<strong>\*(?=[^\s*])(?P<heavy>[^*]{1,400}?)(?<![\s\\])\*\*(?=$|[\s'\")\]}>/\\:.,;!?–—-]))",
    r"(?<=\*)(?:(?<=^\*)|(?<=[\s'\"(\[{</:–—-]\*))(?P<emphasis>(?=[^\s*])(?P<light>[^*\n]{1,200}?(?:\n[^*\n]{1,200}?)?)"
    r"(?<![\s\\])\*(?=$|[\s'\")\]}>/\\:.,;!?–—-]))",
    r"(?<=<)(?P<auto>(?P<address>(?:https?://|mailto:)?[^\s<>`\\|]{2,1000})>)",
    r"(?<=\[)(?<!\w\[)(?P<link>(?P<shown>[^\[\]\n]{1,300}(?:\n[^\[\]\n]{1,200})?)\]\((?P<to>[^()\s]{0,500}(?:\([^()\s]{0,100}\)"
    r"[^()\s]{0,300})?)(?:\s+\"[^\"\n]{0,200}\")?\))",
    r"(?<=:)(?<!\w:)(?P<role>(?P<kind>[A-Za-z][\w+.-]{0,30}(?::[\w+.-]{1,30}){0,2}):(?P<marks>`{1,2})(?P<target>[^`]{1,1000})(?P=marks))",
)
_REST = (
    r"(?<=\[)(?P<foot>(?P<note>\#?[\w.-]{1,40}|\#|\*)\]_(?!\w))",
    r"(?<=\\)(?P<escape>[*_`|\\ ])",
    r"(?<=\|)(?P<substitution>(?P<stands>\w[^|\n`]{0,60})(?<!\s)\|_{0,2}(?!\w))",
)
_COMMANDS = (
    r"(?<=\{)(?P<javadoc>@(?P<tag>\w{1,20})(?:\s+(?P<body>[^{}]{0,400}(?:\{[^{}]{0,200}\}[^{}]{0,200})?))?\})",
    r"(?<=[@\\])(?<![\w@\\.][@\\])(?P<doxygen>(?:(?P<look>p|c|a|e|em|b|param|ref|sa|copydoc|copybrief|link|cite|anchor)\s+"
    r"(?P<word>[^\s`]{1,200}?)(?=[.,;:!?)\]'\"]*(?:\s|$))(?:[ ]\"(?P<named>[^\"\n]{1,200})\")?|n(?=\s|$)|"
    r"f\$(?P<math>.{1,500}?)[@\\]f\$|endlink\b))",
    r"(?<=%)(?<![\w%]%)(?P<constant>-?[A-Z_][A-Z0-9_]{1,60}\b|true\b|false\b)",
    r"(?<=&)(?<![\w&]&)(?P<struct>(?:struct|enum|union|typedef)\s+\w{1,80}|[a-z]\w*_\w*+(?:(?:\.|->)\w++)*+)",
    r"(?<=@)(?<![\w@.]@)(?P<argument>[a-z_]\w{0,60}\b(?:->\w{1,60})*(?![({:@-]|\.\w))",
)
_INTRA = (
    r"(?<=\[)(?P<intra>(?P<item>`[^`\n]{1,200}`|[A-Za-z_*][\w.:()!]{0,200})\](?:\[(?P<at>[^\[\]\n]{0,200})\])?(?![(:]))",
)
_URL = r"(?<=h)(?<!\wh)(?P<url>ttps?://[^\s<>`\"\\|]{1,1000})"


@cache  # compiled when needed: few repositories use all of the 16, which take as long as importing ten modules
def _token_pattern(rest: bool, commands: bool, intra: bool, url: bool) -> re.Pattern[str]:
    signs = "`*<\\[:" + ("\\\\|" if rest else "") + ("{@\\\\%&" if commands else "") + ("h" if url else "")
    kinds = [*_COMMON, *(_REST if rest else ()), *(_COMMANDS if commands else ()), *(_INTRA if intra else ())]
    kinds += [_URL] if url else []
    return re.compile(f"[{signs}](?:{'|'.join(kinds)})", re.S)


_PLAIN_ROLES = frozenset(
    ("sup", "sub", "superscript", "subscript", "abbr", "title", "title-reference", "t", "emphasis")
)
_CODE_ROLES = frozenset(
    ("file", "command", "kbd", "option", "envvar", "guilabel", "menuselection", "program", "samp", "code", "literal",
     "regexp", "mimetype", "makevar", "manpage", "token", "keyword")
)  # fmt: skip
_CALLING = frozenset(("func", "meth", "function", "method"))
_READ_AS_TEXT = frozenset(("ref", "doc", "term", "any", "numref", "std", "issue", "ticket", "download"))


@dataclass
class InlineReader:
    """Converter for the paragraphs of one documentation comment; collects the links it finds."""

    link: LinkResolver
    rest: bool = False
    commands: bool = False
    intra: bool = False  # links to symbols in square brackets
    calls: bool = False  # `name()` and `A::b` refer to symbols even without markup
    arguments: bool = False  # `@name` is a parameter, as in kernel-doc
    documents: DocumentTargets | None = None
    refs: list[Ref | Picture] = field(default_factory=list)
    targets: dict[str, str] = field(default_factory=dict)  # addresses of reST's named link targets
    substitutions: dict[str, str] = field(default_factory=dict)

    def markdown(self, text: str) -> str:
        """Convert a paragraph, or a part of one."""
        if not _SPECIAL.search(text):
            return text
        pattern = _token_pattern(self.rest, self.commands, self.intra, "://" in text)
        pieces = []
        at = 0
        for match in pattern.finditer(text):
            if match.start() < at:
                continue
            before = text[at : match.start()]
            if match.lastgroup == "link" and before.endswith("!"):  # an image, shown as a link
                before = before[:-1]
            pieces.append(self._plain_with_calls(before))
            pieces.append(_CONVERTERS[match.lastgroup or ""](self, match))
            at = match.end()
        pieces.append(self._plain_with_calls(text[at:]))
        return "".join(pieces)

    def paragraph(self, text: str) -> str:
        """Convert a paragraph, and escape line starts that would open another kind of block."""
        markdown = self.markdown(text)
        if markdown[:1] == " " or "\n " in markdown:  # markup at the start of a line was removed
            markdown = _MARGIN.sub("", markdown)
        return escape_line_starts(markdown)

    def label(self, text: str) -> str:
        """Convert text to a bold label."""
        shown = self.markdown(text.strip().strip("*").strip() or text)
        return f"**{shown}**" if "**" not in shown and "\0" not in shown else shown

    def code(self, text: str, label: str = "") -> str:
        """Return inline code, linked if it is a known name."""
        if len(text) < 200 and _NAME.fullmatch(text):
            ref = self.link(text.lstrip("~.").removesuffix("()"))
            if ref is not None:
                return self._ref(ref, label or text, code=True)
        return code(label or text)

    def _ref(self, ref: Ref, label: str, *, code: bool) -> str:
        return self.reference(ref._replace(label=" ".join(label.split()), code=code))

    def reference(self, ref: Ref | Picture) -> str:
        """Return what stands for a link or picture in the text."""
        self.refs.append(ref)
        return f"\0{len(self.refs) - 1}\0"

    def _plain_with_calls(self, text: str) -> str:
        if self.calls and ("()" in text or "::" in text):
            pieces = []
            at = 0
            for match in _CALL.finditer(text):
                ref = self.link(match[0].removesuffix("()"))
                if ref is not None:
                    pieces += [escape_text(text[at : match.start()]), self._ref(ref, match[0], code=True)]
                    at = match.end()
            return "".join([*pieces, escape_text(text[at:])])
        return escape_text(text)

    # --- one method per token, named after its group

    def _code(self, match: re.Match[str]) -> str:
        inside = match["inside"].strip()
        if match["under"] and not match["ticks"]:
            titled = _TITLED.fullmatch(inside)
            shown = titled[1] if titled else inside
            address = titled[2] if titled else self.targets.get(" ".join(inside.lower().split()), "")
            return link_text(shown, self.targets.get(address.rstrip("_").lower(), address))
        return self.code(inside) if inside else escape_text(match[0])

    def _role(self, match: re.Match[str]) -> str:
        kind = match["kind"].rpartition(":")[2].lower()
        target = " ".join(match["target"].split())
        titled = _TITLED.fullmatch(target)
        shown, name = (titled[1], titled[2]) if titled else (target, target)
        if kind == "math":
            return inline_math(match["target"])
        if kind in _PLAIN_ROLES:
            return escape_text(shown)
        if kind in ("strong", "dfn", "b"):
            return f"**{escape_text(shown)}**"
        if kind in ("pep", "rfc") and name.isdigit():
            host = f"peps.python.org/pep-{name:0>4}/" if kind == "pep" else f"www.rfc-editor.org/rfc/rfc{name}"
            return link_text(shown if titled else f"{kind.upper()} {name}", f"https://{host}")
        if kind in _CODE_ROLES:
            return code(shown)
        if name.startswith("!"):
            return code(shown.lstrip("!"))
        page = self.documents.document(name) if kind in ("doc", "download") and self.documents is not None else None
        section = self.documents.section(name) if kind == "ref" and self.documents is not None else None
        document = page[0] if page is not None else section
        if document is not None:
            return self._ref(document, shown if titled else document.label, code=False)
        if not titled:
            shown = name.rpartition(".")[2] if name.startswith("~") else name.lstrip(".")
            shown += "()" if kind in _CALLING and not shown.endswith(")") else ""
        ref = self.link(name.lstrip("~.").removesuffix("()"))
        as_text = kind in _READ_AS_TEXT or (titled is not None and " " in shown)
        if ref is not None:
            return self._ref(ref, shown, code=not as_text)
        return escape_text(shown) if as_text and (titled or kind == "term") else code(shown)

    def _strong(self, match: re.Match[str]) -> str:
        return f"**{self._emphasised(match['heavy'])}**"

    def _emphasis(self, match: re.Match[str]) -> str:
        return f"*{self._emphasised(match['light'])}*"

    def _emphasised(self, text: str) -> str:
        """Convert emphasised text: code in it stays code, the rest is escaped."""
        pieces = [
            code(part) if place % 2 else escape_text(part) for place, part in enumerate(re.split(r"`+([^`]+)`+", text))
        ]
        return "".join(pieces)

    def _auto(self, match: re.Match[str]) -> str:
        address = match["address"]
        if _SAFE.fullmatch(address) or re.fullmatch(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", address, re.A):
            return f"<{address}>"
        return f"\\<{self.markdown(address)}>"

    def _url(self, match: re.Match[str]) -> str:
        address = match[0]
        tail = _LOOSE_END.search(address)
        end = tail.start() if tail else len(address)
        while address[:end].endswith((")", "]", "}")):
            closing = address[end - 1]
            opening = {")": "(", "]": "[", "}": "{"}[closing]
            if address.count(opening, 0, end) >= address.count(closing, 0, end):
                break
            tail = _LOOSE_END.search(address[: end - 1])
            end = tail.start() if tail else end - 1
        if not address[:end].partition("://")[2]:
            return escape_text(address)
        return f"<{address[:end]}>{escape_text(address[end:])}"

    def _link(self, match: re.Match[str]) -> str:
        shown, to = match["shown"], match["to"]
        if _SAFE.match(to):
            return link_text(shown, to)
        ref = self.link(to) if _NAME.fullmatch(to) else None
        bare = shown.strip("`")
        if ref is not None:
            return self._ref(ref, bare, code=bare != shown)
        is_address = bare != shown or re.search(r"[/#.:]", to) is not None
        return self.markdown(shown) if is_address else f"\\[{self.markdown(shown)}]({escape_text(to)})"

    def _intra(self, match: re.Match[str]) -> str:
        item, at = match["item"], match["at"]
        bare = item.strip("`")
        name = (at or bare).strip("`").rpartition("@")[2].rstrip("!()")
        ref = self.link(name.lstrip("*")) if _NAME.fullmatch(name.lstrip("*")) else None
        if ref is not None:
            return self._ref(ref, bare, code=True)
        if at is None and item == bare:
            return escape_text(match[0])
        return code(bare) if item != bare else escape_text(bare)

    def _foot(self, match: re.Match[str]) -> str:
        return f"\\[{escape_text(match['note'])}]"

    def _escape(self, match: re.Match[str]) -> str:
        sign = match["escape"]
        return "" if sign == " " else f"\\{sign}"

    def _substitution(self, match: re.Match[str]) -> str:
        known = self.substitutions.get(match["stands"])
        return escape_text(match[0] if known is None else known)

    def _javadoc(self, match: re.Match[str]) -> str:
        tag, body = match["tag"], (match["body"] or "").strip()
        if tag in ("link", "linkplain", "see", "value"):
            name, _, shown = body.partition("|") if "|" in body else body.partition(" ")
            if "(" in name and ")" not in name and ")" in shown:
                more, _, shown = shown.partition(")")
                name = f"{name} {more})"
            if _SAFE.match(name):
                return link_text(shown.strip() or name, name)
            bare = name.partition("(")[0].strip("#")
            return self.code(bare, label=shown.strip() or bare.replace("#", ".")) if bare else ""
        if tag in ("inheritDoc", "docRoot"):
            return ""
        return code(body) if tag == "code" else escape_text(body)

    def _doxygen(self, match: re.Match[str]) -> str:
        look, word = match["look"], match["word"]
        if match["math"]:
            return inline_math(match["math"])
        if self.arguments and match[0][0] == "@" and look:  # in kernel-doc `@p` is a parameter, not a command
            return code(look) + self.markdown(match[0][1 + len(look) :])
        if look in ("p", "c", "param"):
            return self.code(word)
        if look in ("a", "e", "em"):
            return f"*{escape_text(word)}*"
        if look == "b":
            return f"**{escape_text(word)}**"
        if look in ("ref", "sa", "link", "copydoc", "copybrief"):
            return self.code(word.strip("#"), label=match["named"] or word.strip("#"))
        return code(word) if look == "cite" else ""

    def _constant(self, match: re.Match[str]) -> str:
        return self.code(match["constant"])

    def _struct(self, match: re.Match[str]) -> str:
        shown = " ".join(match["struct"].split())
        return self.code(shown.rpartition(" ")[2], label=shown)

    def _argument(self, match: re.Match[str]) -> str:
        return code(match["argument"]) if self.arguments else f"@{escape_text(match['argument'])}"


_CONVERTERS: dict[str, Callable[[InlineReader, re.Match[str]], str]] = {
    "code": InlineReader._code,
    "role": InlineReader._role,
    "strong": InlineReader._strong,
    "emphasis": InlineReader._emphasis,
    "auto": InlineReader._auto,
    "url": InlineReader._url,
    "link": InlineReader._link,
    "intra": InlineReader._intra,
    "foot": InlineReader._foot,
    "escape": InlineReader._escape,
    "substitution": InlineReader._substitution,
    "javadoc": InlineReader._javadoc,
    "doxygen": InlineReader._doxygen,
    "constant": InlineReader._constant,
    "struct": InlineReader._struct,
    "argument": InlineReader._argument,
}


def escape_text(text: str) -> str:
    """Escape text so that a CommonMark parser shows it as it is; line starts need `paragraph`."""
    return _ESCAPED.sub(_backslashed, text) if _SPECIAL.search(text) else text


def escape_line_starts(text: str) -> str:
    """Escape the starts of lines that would open another kind of block than a paragraph."""
    return _LINE_START.sub(_escaped_start, text)


def _backslashed(match: re.Match[str]) -> str:
    return "".join(f"\\{sign}" for sign in match[0])


def _escaped_start(match: re.Match[str]) -> str:
    return match[0] + "\\"


def code(text: str) -> str:
    """Return text as inline code, verbatim except for white space."""
    text = " ".join(text.replace("\0", "").split())
    if not text:
        return ""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    room = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{room}{text}{room}{fence}"


def inline_math(formula: str) -> str:
    """Return an inline formula in the notation of GitHub and GitLab."""
    formula = " ".join(formula.split())
    return f"${code(formula)}$" if "`" not in formula and formula else code(formula)


def link_text(text: str, address: str) -> str:
    """Return text linked to a web or mail address; the text alone if the address is not a safe one."""
    text = " ".join(text.split())
    bare = text.strip("`")
    label = code(bare) if bare != text else escape_text(bare).replace("]", "\\]")
    address = "".join(address.split())
    if not _SAFE.fullmatch(address) or not label:
        return label
    address = address.replace("(", "%28").replace(")", "%29").replace("|", "%7C").replace("`", "%60")
    return f"<{address}>" if text == address else f"[{label}]({address})"
