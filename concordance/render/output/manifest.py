"""The manifest of a book or a site: `manifest.json` in its folder, which lists every file with its checksum.

In: the folder, or rows. Out: what the last run wrote there and which of these files have changed since, or the bytes of
a new manifest. Files of claims are not listed by themselves, but with their page.
"""

from __future__ import annotations

import json
import os
import posixpath
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from concordance.base import confined_folder
from concordance.base.config import Book
from concordance.base.version import VERSION
from concordance.collect import own_output
from concordance.collect.own_output import GENERATOR, MANIFEST, SIGN
from concordance.render.addresses import MARKDOWN, claims_of

_OPTIONS = ("source", "history", "generated")  # the settings of a book that a manifest records
_NO_OPTIONS: Mapping[str, bool] = MappingProxyType({})
_FORMER_SITE = ["checksum", "size"]  # the columns of a site's manifest before it had those of a book's


class ManifestPage(NamedTuple):
    """One page of the book, or one file of the site, as listed in the manifest."""

    page: str  # path inside the folder
    kind: str
    checksum: str
    size: int
    claims: int = 0  # number of citations of source lines
    claims_checksum: str = ""  # "" if there are no claims
    inputs: str = ""  # digest of what the page is rendered from


class Manifest(NamedTuple):
    """A parsed manifest."""

    pages: dict[str, ManifestPage]
    unfinished: bool = False  # the run that was writing was interrupted, so there may be pages that are not listed
    sound: bool = True  # its head is exactly what this program would write for these pages
    site: bool = False  # the files are those of a site
    options: Mapping[str, bool] = _NO_OPTIONS  # what the pages were written with; empty if an old version wrote them


def digest(data: bytes) -> str:
    """Return the checksum of a file's content."""
    return blake2b(data, digest_size=16).hexdigest()


def read(out: str) -> Manifest:
    """Read the manifest of a folder. Without a manifest of ours there are no pages; a damaged one has no pages either,
    and counts as unfinished."""
    data = b""
    try:
        with confined_folder.open_regular_file(os.path.join(out, MANIFEST)) as file:
            data = file.read()
        known = json.loads(data)
        if known["generator"] != GENERATOR:
            return Manifest({}, own_output.resembles_signature(data, SIGN), False)
    except OSError:
        return Manifest({})
    except (ValueError, KeyError, TypeError, RecursionError):
        return Manifest({}, own_output.resembles_signature(data, SIGN), False)
    try:
        site = known.get("site") is True
        is_ours = own_output.is_site_file if site else own_output.is_page_of_any_format
        listed = {page: row for page, row in known["pages"].items() if confined_folder.is_inside(page)}
        rows = [(page, *row) for page, row in listed.items() if is_ours(page)]
        if known.get("columns") == _FORMER_SITE:
            rows = [(page, "", *row) for page, *row in rows]
        pages = {row[0]: ManifestPage(*row) for row in rows}
        options = {name: bool(value) for name, value in known.get("options", {}).items() if name in _OPTIONS}
        sound = data.startswith(_head(pages.values(), False, site, options).encode())
        return Manifest(pages, bool(known.get("unfinished")), sound, site, options)
    except (KeyError, TypeError, AttributeError):  # written by another version
        return Manifest({}, True, False)


def ending(pages: Iterable[str]) -> str:
    """Return the ending of a book's pages, by its front page; that of Markdown if there is no front page."""
    front = own_output.FRONT.removesuffix(MARKDOWN)
    return next((posixpath.splitext(page)[1] for page in pages if page.startswith(f"{front}.")), MARKDOWN)


def pages_digest(pages: Iterable[ManifestPage]) -> str:
    """Return a digest of all listed rows: it differs if any page or its content differs."""
    return digest(repr([row[:] for row in sorted(pages)]).encode("utf-8", "backslashreplace"))


def version(out: str) -> str:
    """Return the version of the program that wrote a book; "" if unknown."""
    try:
        with confined_folder.open_regular_file(os.path.join(out, MANIFEST)) as file:
            return str(json.load(file)["version"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def options_of(book: Book) -> dict[str, bool]:
    """Return the settings of a book that its manifest records, so that the same pages can be rendered again."""
    return {name: getattr(book, name) for name in _OPTIONS}


def with_options(book: Book, options: Mapping[str, bool]) -> Book:
    """Return the settings of a book with those that its manifest records."""
    known = {**options_of(book), **options}
    return replace(book, source=known["source"], history=known["history"], generated=known["generated"])


def encode_manifest(
    pages: Collection[ManifestPage], unfinished: bool, site: bool, options: Mapping[str, bool]
) -> bytes:
    """Return the content of the manifest."""
    listed = ",\n".join(map(_line, sorted(pages)))
    return f"{_head(pages, unfinished, site, options)}{listed}\n }}\n}}\n".encode("utf-8", "backslashreplace")


def _head(pages: Collection[ManifestPage], unfinished: bool, site: bool, options: Mapping[str, bool]) -> str:
    """Return the text of the manifest before the first row of its list of pages."""
    totals = {"pages": len(pages), "bytes": sum(row.size for row in pages), "claims": sum(row.claims for row in pages)}
    more = {**({"site": True} if site else {}), **({"unfinished": True} if unfinished else {"counts": totals})}
    more |= {"options": dict(options)} if options else {}
    head = {"generator": GENERATOR, "version": VERSION, **more, "columns": list(ManifestPage._fields[1:])}
    return json.dumps(head, indent=1)[:-2] + ',\n "pages": {\n'


@lru_cache(maxsize=1 << 17)
def _line(row: ManifestPage) -> str:
    """Return a page's row. Cached, since it is written when a run begins and when it ends."""
    return f"  {json.dumps(row.page)}: {json.dumps(list(row[1:]))}"


def files(out: str) -> Iterator[str]:
    """Yield the path of every file in a folder."""
    start = len(os.path.join(out, ""))
    for folder, _, names in os.walk(out):
        inside = folder[start:]
        for name in names:
            yield f"{inside}/{name}" if inside else name


def find_modified_pages(out: str, pages: dict[str, ManifestPage]) -> list[str]:
    """Return the pages that are missing or no longer as they were written. This runs before every build and must be
    cheap: since the manifest is written last, only a file that changed after it is compared by digest."""
    path = os.path.join(out, MANIFEST)
    try:
        written = os.lstat(path).st_ctime_ns
    except OSError:
        return list(pages)
    modified, later = [], False
    for page, row in pages.items():
        status = _status(out, page, row)
        if status is None:
            modified.append(page)
        elif status > written:
            later = True
            modified += [] if _is_as_listed(out, row) else [page]
    if later and not modified:
        with suppress(OSError):  # so that the next run need not compare them again
            os.utime(path)
    return modified


def _status(out: str, page: str, row: ManifestPage) -> int | None:
    """Return when a page or its claims last changed; None if they are missing or have another size."""
    try:
        status = os.lstat(os.path.join(out, page))
        beside = os.lstat(os.path.join(out, claims_of(page))) if row.claims else status
    except OSError:
        return None
    if status.st_size != row.size or not stat.S_ISREG(status.st_mode) or not beside.st_size:
        return None  # a power cut can leave an empty file
    return max(status.st_ctime_ns, beside.st_ctime_ns)


def find_differing_pages(out: str, pages: Iterable[ManifestPage]) -> list[str]:
    """Return the pages whose bytes differ from what the manifest lists."""
    return [row.page for row in pages if not _is_as_listed(out, row)]


def _is_as_listed(out: str, row: ManifestPage) -> bool:
    data = read_regular_file(os.path.join(out, row.page))
    if data is None or digest(data) != row.checksum:
        return False
    beside = read_regular_file(os.path.join(out, claims_of(row.page)))
    return (digest(beside) if beside is not None else "") == row.claims_checksum


def read_regular_file(path: str) -> bytes | None:
    """Return the bytes of a regular file; None if there is none."""
    try:
        with confined_folder.open_regular_file(path) as file:
            return file.read()
    except OSError:
        return None
