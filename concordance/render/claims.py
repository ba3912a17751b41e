"""The claims of a page: which source lines its statements cite, and a digest of those lines.

In: a page's claims as its format collected them. Out: a JSON file beside the page. It lists the claims by the file that
they cite: the line of the page, the cited line or lines, and the digest of their text.
"""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import blake2b

from concordance.render.formats import CitedLine

_WHOLE_FILE = 16  # characters of a file's digest that a claim about the whole file stores


def claim_text(lines: Sequence[str], first: int, last: int) -> str:
    """Return the digest of the given lines that a claim stores."""
    cited = _cited_text(lines, first, last)
    return urlsafe_b64encode(blake2b(cited.encode("utf-8", "surrogatepass"), digest_size=6).digest()).decode()


def claim_of_file(digest: str) -> str:
    """Return what a claim about a whole file stores of the file's digest."""
    return digest[:_WHOLE_FILE]


def _cited_text(lines: Sequence[str], first: int, last: int) -> str:
    """Return lines without trailing white space; a single line without leading white space either."""
    if first == last:
        return lines[first - 1].strip() if 0 < first <= len(lines) else ""
    return "\n".join(line.rstrip() for line in lines[first - 1 : last])


def encode_claims(page: str, claims: Sequence[CitedLine], quote: Callable[[str, int, int], str]) -> bytes:
    """Encode a page's claims as a file; `quote` returns the digest of the cited lines."""
    if not claims:
        return b""
    files: dict[str, list[str]] = {}
    for line, path, first, last in claims:
        lines = f"{first},{last}" if last != first else str(first)
        files.setdefault(path, []).append(f'[{line},{lines},"{quote(path, first, last)}"]')
    rows = ",\n".join([f"{json.dumps(path)}: [\n" + ",\n".join(some) + "\n]" for path, some in files.items()])
    return f'{{"page": {json.dumps(page)}, "claims": {{\n{rows}\n}}}}\n'.encode("utf-8", "backslashreplace")


def decode_claims(data: bytes) -> list[tuple[CitedLine, str]]:
    """Decode a file of claims, each with its digest; ValueError if the file is not valid."""
    try:
        files: dict[str, list[list[int | str]]] = json.loads(data)["claims"]
        return [
            (CitedLine(int(line), os.path.normpath(path), int(cited[0]), int(cited[-1])), str(digest))
            for path, rows in files.items()
            for line, *cited, digest in rows
        ]
    except (AttributeError, KeyError, IndexError, TypeError, RecursionError) as error:
        raise ValueError(f"not a file of claims: {error}") from error
