"""Falsifies the pages of a book, so that a test can see whether `verify` notices.

In: a book. Out: the same book with some changed pages, and what was done to each. A falsification is what a careless
edit, a faulty writer or a malicious person would do: it is small, and the manifest's checksums match it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from concordance.render.addresses import claims_of
from concordance.render.output import manifest
from concordance.render.output.manifest import ManifestPage, digest

Lines = list[str]
_NUMBER = re.compile(r"(?<![\w.#/\-\[])\d+(?![\w.\])/])")
_DEFINED = re.compile(r'(id="def-[^"]*"></a>[^`]*`[^`]+` \[?L)(\d+)')
_SIGNATURE = re.compile(r'(id="def-[^"]*"></a>[^`]*`[^`]*?\w\()([^`]*\)[^`]*`)')
_NAME = re.compile(r"(?<=`)([A-Za-z]\w{2,})(?=`)")
_TARGET = re.compile(r"\]\((\.?\.?/?[\w./]+\.md)(#[\w.\-]+)?\)|^\[[^\]]+\]: (\S+)")
_ARROW = re.compile(r"^  (n\d+)( -->| -- \"[\d,]+\" -->) (n\d+)$")
_VERB = re.compile(r"\b(is|are|has|uses|used|defines|imports|calls|called|Defines|Used|Imported)\b")


class Falsified(NamedTuple):
    """A page that was changed."""

    kind: str
    page: str
    line: int  # the line that is false, or where one is missing
    said: str


def _source_lines(lines: Lines) -> range:
    """Return the lines of the copied source."""
    try:
        start = lines.index("## Original Source") + 3
        return range(start, lines.index(lines[start - 1][:3], start))
    except ValueError:
        return range(0)


def _changed(pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str], source: bool = False) -> Kind:
    """Change a match of a pattern, inside or outside the copied source."""

    def change(lines: Lines, chance: random.Random) -> int:
        copied = _source_lines(lines)
        places = [at for at, line in enumerate(lines) if (at in copied) == source and pattern.search(line)]
        if not places:
            return -1
        at = chance.choice(places)
        found = chance.choice(list(pattern.finditer(lines[at])))
        new = f"{lines[at][: found.start()]}{replacement(found)}{lines[at][found.end() :]}"
        was, lines[at] = lines[at], new
        return at if new != was else -1

    return change


def _text_places(lines: Lines, minimum: int = 20) -> Lines | list[int]:
    copied = _source_lines(lines)
    return [at for at, line in enumerate(lines[:-4]) if at > 2 and at not in copied and len(line) >= minimum]


def _add(lines: Lines, chance: random.Random) -> int:
    places = [at for at in range(4, len(lines) - 3) if not lines[at] and at not in _source_lines(lines)]
    if not places:
        return -1
    at = chance.choice(places)
    lines[at:at] = ["", "It is not safe to call this from several threads."]
    return at


def _delete(lines: Lines, chance: random.Random) -> int:
    places = _text_places(lines)
    if not places:
        return -1
    at = chance.choice(places)
    del lines[at]
    return at


def _delete_source(lines: Lines, chance: random.Random) -> int:
    places = [at for at in _source_lines(lines) if lines[at].strip()]
    if not places:
        return -1
    at = chance.choice(places)
    del lines[at]
    return at


def _swap(lines: Lines, chance: random.Random) -> int:
    places = [at for at in _text_places(lines, 3) if lines[at] != lines[at + 1]]
    if not places:
        return -1
    at = chance.choice(places)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return at


def _negate(lines: Lines, chance: random.Random) -> int:
    found = _changed(re.compile(r"^No (?=\w+ found|findings|references)"), lambda match: "")
    at = found(lines, chance) if chance.random() < 0.5 else -1
    return at if at >= 0 else _changed(_VERB, lambda match: f"not {match[0]}")(lines, chance)


def _other_page(match: re.Match[str]) -> str:
    return match[0].replace("_docs.md", "_kw.md") if "_docs.md" in match[0] else match[0].replace("index.md", "doc.md")


def _cell(match: re.Match[str]) -> str:
    return f"| {match[1]}s " if match[1].strip() else match[0]


Kind = Callable[[Lines, random.Random], int]
KINDS: dict[str, Kind] = {
    "a number": _changed(_NUMBER, lambda match: str(int(match[0]) + 1)),
    "the line of a definition": _changed(_DEFINED, lambda match: f"{match[1]}{int(match[2]) + 1}"),
    "a signature": _changed(_SIGNATURE, lambda match: f"{match[1]}extra, {match[2]}"),
    "a name": _changed(_NAME, lambda match: f"{match[0]}s"),
    "a word of the copied source": _changed(re.compile(r"\b[a-z]{3,}\b"), lambda match: f"{match[0]}x", source=True),
    "a deleted line of the copied source": _delete_source,
    "a negated sentence": _negate,
    "an added sentence": _add,
    "a deleted line": _delete,
    "two swapped lines": _swap,
    "a link to another page": _changed(_TARGET, _other_page),
    "a link to nothing": _changed(_TARGET, lambda match: match[0].replace(".md", ".mdx")),
    "a cell of a table": _changed(re.compile(r"\| ([^|\-]{3,}) (?=\|)"), _cell),
    "an arrow of a diagram": _changed(_ARROW, lambda match: f"  {match[3]}{match[2]} {match[1]}"),
}
CLAIM = "a claim"
ALL_KINDS = (*KINDS, CLAIM)


def falsify(out: Path, kind: str, taken: set[str], chance: random.Random) -> Falsified | None:
    """Falsify a page that is not changed yet, and make the manifest match; return None if no page is suitable."""
    listed = manifest.read(str(out))
    pages = [row for row in listed.pages.values() if row.page not in taken and (kind != CLAIM or row.claims)]
    for row in chance.sample(pages, min(len(pages), 400)):
        found = _falsify_claim(out, row, chance) if kind == CLAIM else _falsify_page(out, row, kind, chance)
        if found is not None:
            taken.add(row.page)
            return found
    return None


def _falsify_page(out: Path, row: ManifestPage, kind: str, chance: random.Random) -> Falsified | None:
    path = out / row.page
    data = path.read_bytes()
    lines = data.decode().split("\n")
    at = KINDS[kind](lines, chance)
    new = "\n".join(lines).encode()
    if at < 0 or new == data:
        return None
    path.write_bytes(new)
    return Falsified(kind, row.page, at + 1, lines[min(at, len(lines) - 1)][:100])


def _falsify_claim(out: Path, row: ManifestPage, chance: random.Random) -> Falsified | None:
    path = out / claims_of(row.page)
    known = json.loads(path.read_bytes())
    rows = [claim for rows in known["claims"].values() for claim in rows if claim[1]]
    if not rows:
        return None
    line, *cited, digest = chance.choice(rows)
    old, new = (json.dumps([line, *numbers, digest], separators=(",", ":")) for numbers in (cited, [n + 1 for n in cited]))
    text = path.read_text()
    changed = text.replace(old, new, 1)
    path.write_text(changed)
    return Falsified(CLAIM, row.page, line, old[1:-1]) if changed != text else None


def make_manifest_fit(out: Path, pages: set[str]) -> None:
    """Give pages in the manifest the checksums and sizes that they have now."""
    listed = manifest.read(str(out))
    rows = dict(listed.pages)
    for page in pages:
        data, row = (out / page).read_bytes(), rows[page]
        beside = digest((out / claims_of(page)).read_bytes()) if row.claims else ""
        rows[page] = row._replace(checksum=digest(data), size=len(data), claims_checksum=beside)
    text = manifest.encode_manifest(rows.values(), False, listed.site, listed.options)
    (out / "manifest.json").write_bytes(text)
