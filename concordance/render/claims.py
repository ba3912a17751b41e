"""The claims of a page: which source lines its statements cite, and the text of those lines.

In: a page's claims as its format collected them. Out: a JSON file beside the page. A short line is stored as it is, so
that people can read what a statement is based on; several lines, a long line or a whole file are stored as a digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from hashlib import blake2b

from concordance.render.formats import CitedLine

COLUMNS = ("line", "path", "first", "last", "text")  # `path` is an index into the list of paths
_LONGEST = 32  # longest line that is stored as it is, in characters
_DIGEST = "~"  # prefix of a digest


def claim_text(lines: Sequence[str], first: int, last: int) -> str:
    """Return the text of the given lines, or its digest, in the form that a claim stores."""
    said = _cited_text(lines, first, last)
    return said if first == last and len(said) <= _LONGEST else digest_of(said)


def _cited_text(lines: Sequence[str], first: int, last: int) -> str:
    """Return lines without trailing white space; a single line without leading white space either."""
    if first == last:
        return lines[first - 1].strip() if 0 < first <= len(lines) else ""
    return "\n".join(line.rstrip() for line in lines[first - 1 : last])


def digest_of(text: str) -> str:
    """Return the digest of a text, with its prefix."""
    return _DIGEST + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def holds(lines: Sequence[str], first: int, last: int, text: str) -> bool:
    """True if the lines match the stored text or digest; does not depend on the limit that decided between the two."""
    said = _cited_text(lines, first, last)
    return said == text or (is_digest(text) and digest_of(said) == text)


def is_digest(text: str) -> bool:
    """True if a claim stores a digest rather than the text itself."""
    return len(text) == len(_DIGEST) + 12 and text.startswith(_DIGEST) and text[1:].isalnum()


def encode_claims(page: str, claims: Sequence[CitedLine], quote: Callable[[str, int, int], str]) -> bytes:
    """Encode a page's claims as a file; `quote` returns the text or digest of the cited lines."""
    if not claims:
        return b""
    paths = {path: place for place, path in enumerate(dict.fromkeys(claim.path for claim in claims))}
    head = json.dumps({"page": page, "paths": list(paths), "columns": COLUMNS})[:-1]
    rows = (
        f"[{line},{paths[path]},{first},{last},{_quoted(quote(path, first, last))}]"
        for line, path, first, last in claims
    )
    text = ",\n".join(rows)
    return f'{head}, "claims": [\n{text}\n]}}\n'.encode("utf-8", "backslashreplace")


def _quoted(text: str) -> str:
    return f'"{text}"' if is_digest(text) else json.dumps(text, ensure_ascii=False)


def decode_claims(data: bytes) -> list[tuple[CitedLine, str]]:
    """Decode a file of claims, each with its text or digest; ValueError if the file is not valid."""
    try:
        known = json.loads(data)
        paths: list[str] = [os.path.normpath(path) for path in known["paths"]]
        return [(CitedLine(int(a), paths[b], int(c), int(d)), str(text)) for a, b, c, d, text in known["claims"]]
    except (KeyError, IndexError, TypeError, RecursionError) as error:
        raise ValueError(f"not a file of claims: {error}") from error
