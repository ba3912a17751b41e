"""What a page claims: which lines of the source its statements rest on, and what those lines say.

In: a page's claims as its format found them. Out: a file beside the page. A short line is kept as it is, so that a
person can read what a statement rests on; several lines, a long one or a whole file by their digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from hashlib import blake2b

from concordance.render.formats.markdown import CitedLine

COLUMNS = ("line", "path", "first", "last", "text")  # a path is a place in the list of paths
_LONGEST = 32  # letters of a line that is kept as it is
_DIGEST = "~"  # before the digest of what is not kept


def text_of(lines: Sequence[str], first: int, last: int) -> str:
    """What some lines say, as a claim keeps it."""
    said = _said(lines, first, last)
    return said if first == last and len(said) <= _LONGEST else digest_of(said)


def _said(lines: Sequence[str], first: int, last: int) -> str:
    """Lines without the white space at their ends; of a single one, at its beginning neither."""
    if first == last:
        return lines[first - 1].strip() if 0 < first <= len(lines) else ""
    return "\n".join(line.rstrip() for line in lines[first - 1 : last])


def digest_of(text: str) -> str:
    """The digest of a longer text."""
    return _DIGEST + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def holds(lines: Sequence[str], first: int, last: int, text: str) -> bool:
    """Whether some lines say what a claim keeps, whatever length of line was kept when it was written."""
    said = _said(lines, first, last)
    return said == text or (is_digest(text) and digest_of(said) == text)


def is_digest(text: str) -> bool:
    """Whether a claim keeps the digest of its text."""
    return len(text) == len(_DIGEST) + 12 and text.startswith(_DIGEST) and text[1:].isalnum()


def packed(page: str, claims: Sequence[CitedLine], said: Callable[[str, int, int], str]) -> bytes:
    """The claims of a page as a file; `said` gives the text that a claim rests on."""
    if not claims:
        return b""
    paths = {path: place for place, path in enumerate(dict.fromkeys(claim.path for claim in claims))}
    head = json.dumps({"page": page, "paths": list(paths), "columns": COLUMNS})[:-1]
    rows = (
        f"[{line},{paths[path]},{first},{last},{_quoted(said(path, first, last))}]"
        for line, path, first, last in claims
    )
    text = ",\n".join(rows)
    return f'{head}, "claims": [\n{text}\n]}}\n'.encode("utf-8", "backslashreplace")


def _quoted(text: str) -> str:
    return f'"{text}"' if is_digest(text) else json.dumps(text, ensure_ascii=False)


def unpacked(data: bytes) -> list[tuple[CitedLine, str]]:
    """The claims that a file holds, each with the text that it rests on; ValueError where it is none."""
    try:
        known = json.loads(data)
        paths: list[str] = [os.path.normpath(path) for path in known["paths"]]
        return [(CitedLine(int(a), paths[b], int(c), int(d)), str(text)) for a, b, c, d, text in known["claims"]]
    except (KeyError, IndexError, TypeError, RecursionError) as error:
        raise ValueError(f"these are no claims: {error}") from error
