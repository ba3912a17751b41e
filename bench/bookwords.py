"""The words of a book: which sentences many pages share, and which names from another system's pages are on ours.

In: the folder of a book. Out: shares and lists. A sentence is the text between full stops, or a line; names of code,
links, paths, identifiers and numbers are masked, so that sentences which differ only in those count as one.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections import Counter
from pathlib import Path

from concordance.base.model import Category
from concordance.extract.registry import languages
from concordance.render.output import manifest

_FENCED = re.compile(r"^([ >]*)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$", re.M | re.S)
_DEFINED = re.compile(r"^\[[^\n]*\]: \S+$", re.M)
_TAG = re.compile(r"<a id=[^>]*></a>")
_LINK = re.compile(r"\[((?:[^\[\]\\`]|\\.|`[^`]*`)*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)|\[[^\[\]]*\])")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_NAME = re.compile(r"\S*(?:\w[_/.:]\w|\d|[a-z][A-Z]|\w\()\S*|[A-Z]{2,}\w*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")
_MASK = "□"
_SOURCES = tuple(
    end for one in languages() if one.category == Category.SOURCE and not one.is_keyed and not one.is_markup
    for end in one.extensions
)  # fmt: skip
_HEADINGS = frozenset(("Role in the repository", "Code Patterns & Idioms"))


def sentences(text: str) -> list[str]:
    """Return the sentences of a page without its source and other code, with names and numbers masked."""
    text = _DEFINED.sub("", _TAG.sub("", _FENCED.sub("", text)))
    text = _LINK.sub(_MASK, _CODE.sub(_MASK, text).replace("\\", ""))
    found = []
    for sentence in _SENTENCE.split(text):
        said = " ".join(_MASK if _NAME.fullmatch(word.strip("*,.;:()|>")) else word for word in sentence.strip(" -|>#*").split())
        said = re.sub(rf"{_MASK}(?:[\s,]*(?:and )?{_MASK})+", _MASK, said)
        if re.search(r"[A-Za-z]", said):
            found.append(said)
    return found


def shared(out: Path, code: bool = False) -> tuple[float, float, list[tuple[str, tuple[int, float, int]]]]:
    """Return the share of words in sentences that more than 1 % of the file pages (or of the pages about code) contain:
    of all text with headings and labels, and of phrases of four words or more that are not headings; and all shared
    sentences, longest first."""
    pages = [page for page, row in manifest.read(str(out)).pages.items() if row.kind == "file" and re.search(r"_docs\.md$", page)]
    pages = [page for page in pages if not code or page.removesuffix("_docs.md").endswith(_SOURCES)]
    times: Counter[str] = Counter()
    on: Counter[str] = Counter()
    masked_words = 0
    for page in pages:
        said = sentences((out / page).read_text(errors="replace"))
        times.update(said)
        on.update(set(said))
        masked_words += sum(len(one.split()) for one in said)
    common = [one for one, number in on.items() if number > len(pages) / 100]
    masked = sum(times[one] * len(one.split()) for one in common)
    phrases = [one for one in common if len(re.findall(r"[A-Za-z]{2,}", one)) > 3 and one not in _HEADINGS]
    phrased = sum(times[one] * len(one.split()) for one in phrases)
    rows = [(one, (times[one] * len(one.split()), times[one] * len(one.split()) / max(1, masked_words), on[one])) for one in common]
    rows.sort(key=lambda row: -row[1][0])
    return masked / max(1, masked_words), phrased / max(1, masked_words), rows


# --- pages of another system


def seeds_compared(folder: Path, root: Path, out: Path) -> None:
    """Return which names of the other system's pages are on our pages, of those that the file really contains; and the
    others."""
    print("\nseeds: the file, names on their pages, those that it really holds, of them missing on ours")
    for seed in sorted(folder.iterdir()):
        text = seed.read_text(errors="replace")
        about = re.match(r"# [^`\n]*`([^`\n]+)`", text)
        if about is None:
            continue
        path = re.sub(r"(?:_docs\.md|_kw\.md)+$", "", about[1].removeprefix("docs/"))
        if not (root / path).exists():
            print(f"    {path} is not there: passed over")
            continue
        named = set(re.findall(r"\*\*`([^`\n]+)`\*\*", text)) | set(re.findall(r"^- `([\w.]+)`", text, re.M))
        real = {name for name in named if set(name.split(".")) <= _names((root / path).read_text())}
        docs, words = (out / f"{path}_docs.md").read_text(), (out / f"{path}_kw.md").read_text()
        outside = _FENCED.sub("", docs) + words
        ours = set(re.findall(r"[A-Za-z_]\w*", outside))
        missing = sorted(name for name in real if not set(name.split(".")) <= ours)
        entries = set(re.findall(r"^[ >]*- (?:\*\*)?\[?`([^`\n]+)`", words, re.M))
        others = sorted(entries & (named - real))
        said = set(re.findall(r"[A-Za-z_]\w*", (root / path).read_text()))
        print(f"    {path}: {len(named)} named, {len(real)} real, {len(missing)} missing {missing}; entries of ours that are no names of"
              f" its code: {[one for one in others if one in said]} in its comments and strings, {[one for one in others if one not in said]} nowhere")


def _names(text: str) -> set[str]:
    """Return the names of code in a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME and not keyword.iskeyword(token.string)}
