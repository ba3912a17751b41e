"""The manifest of a book, and reading, writing and removing the files that it lists.

In: pages as bytes. Out: files, each written under a temporary name and renamed, and only if its content has changed;
and `manifest.json`, which lists every page with its checksum. It tells the next run which pages the last one wrote. A
file that does not end the way our pages do is never touched, whatever a manifest says.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from concordance.base import confined_folder
from concordance.base.confined_folder import ConfinedFolder, LinkRefused, NotRegularFile, is_inside
from concordance.base.errors import UserError
from concordance.base.version import VERSION
from concordance.collect import own_output
from concordance.collect.own_output import CLAIM, CLAIMS, GENERATOR, MANIFEST, SIGN
from concordance.render.addresses import MARKDOWN, claims_of

_ASIDE = re.compile(r"\d+\.new")  # temporary name of a file that is being written: the number of its process


class ManifestPage(NamedTuple):
    """One page of the book, as listed in the manifest."""

    page: str  # path inside the book
    kind: str
    checksum: str
    size: int
    claims: int  # number of citations of source lines
    claims_checksum: str  # "" if there are no claims
    inputs: str  # digest of what the page is rendered from


class Manifest(NamedTuple):
    """A parsed manifest."""

    pages: dict[str, ManifestPage]
    unfinished: bool = False  # the run that was writing was interrupted, so there may be pages that are not listed
    sound: bool = True  # its head is exactly what this program would write for these pages


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
        rows = known["pages"].items()
        pages = {page: ManifestPage(page, *row) for page, row in rows if own_output.is_page_of_any_format(page)}
        sound = data.startswith(_head(_counted(pages.values())).encode())
        return Manifest(pages, bool(known.get("unfinished")), sound)
    except (KeyError, TypeError, AttributeError):  # written by another version
        return Manifest({}, True, False)


def ending(pages: Iterable[str]) -> str:
    """Return the ending of a book's pages, by its front page; that of Markdown if there is no front page."""
    front = own_output.FRONT.removesuffix(MARKDOWN)
    return next((posixpath.splitext(page)[1] for page in pages if page.startswith(f"{front}.")), MARKDOWN)


def pages_digest(pages: Iterable[ManifestPage]) -> str:
    """Return a digest of all listed rows: it differs if any page or its content differs."""
    known = sorted("\0".join(map(str, row)) for row in pages)
    return digest("\0\0".join(known).encode("utf-8", "backslashreplace"))


def version(out: str) -> str:
    """Return the version of the program that wrote a book; "" if unknown."""
    try:
        with confined_folder.open_regular_file(os.path.join(out, MANIFEST)) as file:
            return str(json.load(file)["version"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


class RunMarker:
    """Marks the manifest as unfinished before the first file changes: if the run is interrupted, the next one knows
    that there may be pages that are not listed."""

    def __init__(self, folder: ConfinedFolder, before: dict[str, ManifestPage]) -> None:
        self.folder, self.before = folder, before
        self.done = False

    def __call__(self) -> None:
        """Mark the manifest, once."""
        if not self.done:
            self.done = True
            put(self.folder, MANIFEST, _encode(self.before.values(), {"unfinished": True}))


def tidy(folder: ConfinedFolder) -> None:
    """Remove temporary files that a killed run left behind."""
    with suppress(OSError, LinkRefused):
        for name in folder.names(CLAIMS):
            if _ASIDE.fullmatch(name):
                folder.unlink(f"{CLAIMS}/{name}")


def encode_manifest(pages: Collection[ManifestPage], unfinished: bool) -> bytes:
    """Return the content of the manifest."""
    return _encode(pages, {**_counted(pages), **({"unfinished": True} if unfinished else {})})


def _counted(pages: Collection[ManifestPage]) -> dict[str, object]:
    totals = {"pages": len(pages), "bytes": sum(row.size for row in pages), "claims": sum(row.claims for row in pages)}
    return {"counts": totals}


def _encode(pages: Iterable[ManifestPage], more: dict[str, object]) -> bytes:
    listed = ",\n".join(map(_line, sorted(pages)))
    return f"{_head(more)}{listed}\n }}\n}}\n".encode("utf-8", "backslashreplace")


def _head(more: dict[str, object]) -> str:
    """Return the text of the manifest before the first row of its list of pages."""
    head = {"generator": GENERATOR, "version": VERSION, **more, "columns": list(ManifestPage._fields[1:])}
    return json.dumps(head, indent=1)[:-2] + ',\n "pages": {\n'


@cache
def _line(row: ManifestPage) -> str:
    """Return a page's row. Cached, since each row is written at least twice: when a run begins and when it ends."""
    return f"  {json.dumps(row.page)}: {json.dumps(list(row[1:]))}"


def put(folder: ConfinedFolder, path: str, data: bytes, begin: Callable[[], None] | None = None) -> bool:
    """Write a file of the book; False if it already has this content. `begin` is called before anything changes."""
    try:
        there = folder.read(path)
    except FileNotFoundError:
        pass
    except NotRegularFile:
        raise PathTaken(folder.path, [path]) from None
    else:
        if there == data:
            return False
        ours = own_output.is_own_content(there, path) or own_output.resembles_signature(
            there, SIGN if path == MANIFEST else CLAIM
        )
        if there and not (ours or _is_same_page(there, data)):
            raise PathTaken(folder.path, [path])
    if begin is not None:
        begin()
    folder.write(f"{CLAIMS}/{os.getpid()}.new", path, data)  # only one file is written at a time
    return True


def _is_same_page(there: bytes, data: bytes) -> bool:
    """True if a file is the same page, truncated or with text added: it begins with the same title."""
    return data.startswith(there) or there.partition(b"\n")[0] == data.partition(b"\n")[0]


def drop(folder: ConfinedFolder, path: str) -> bool:
    """Remove a file of claims; False if there is none."""
    try:
        data = folder.read(path)
        if data and not data.startswith(CLAIM):
            return False
        folder.unlink(path)
    except (FileNotFoundError, NotRegularFile, LinkRefused):
        return False
    return True


def remove(folder: ConfinedFolder, pages: Iterable[str]) -> int:
    """Remove pages that no longer exist, and folders that become empty. A manifest may list anything, so only files
    that are named like a page and end the way our pages do are removed."""
    count = 0
    folders: set[str] = set()
    for page in pages:
        if not is_inside(page) or not own_output.is_page_of_any_format(page) or _is_written(folder, page) is False:
            continue
        with suppress(OSError, LinkRefused):
            folder.unlink(page)
            count += 1
        with suppress(OSError):
            drop(folder, claims_of(page))
        folders |= {os.path.dirname(page), os.path.dirname(claims_of(page))}
    for one in folders:
        remove_empty(folder, one)
    return count


def _is_written(folder: ConfinedFolder, page: str) -> bool | None:
    """True if the program wrote the page; None if the page does not exist."""
    try:
        return own_output.is_own_content(folder.read(page), page)
    except FileNotFoundError:
        return None
    except (OSError, LinkRefused):
        return False


def remove_empty(folder: ConfinedFolder, inside: str) -> None:
    """Remove a folder and its parents, as long as they are empty."""
    while inside:
        try:
            folder.rmdir(inside)
        except FileNotFoundError:
            pass
        except (OSError, LinkRefused):  # not empty, or not ours
            return
        inside = os.path.dirname(inside)


def find_unlisted_pages(folder: ConfinedFolder, named: set[str]) -> Iterator[str]:
    """Yield pages in the folder that we wrote but that are neither in `named` nor part of another book inside it."""
    out = folder.path
    others = tuple(f"{book.folder}/" for book in own_output.find_books(out, files(out)) if book.folder)
    for path in files(out):
        if path.startswith(others) or path in named or not own_output.is_page_of_any_format(path):
            continue
        if _is_written(folder, path):
            yield path


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
    found, later = [], False
    for page, row in pages.items():
        status = _status(out, page, row)
        if status is None:
            found.append(page)
        elif status > written:
            later = True
            found += [] if _is_as_listed(out, row) else [page]
    if later and not found:
        with suppress(OSError):  # so that the next run need not compare them again
            os.utime(path)
    return found


def _status(out: str, page: str, row: ManifestPage) -> int | None:
    """Return when a page or its claims last changed; None if they are missing or have another size."""
    try:
        found = os.lstat(os.path.join(out, page))
        beside = os.lstat(os.path.join(out, claims_of(page))) if row.claims else found
    except OSError:
        return None
    if found.st_size != row.size or not stat.S_ISREG(found.st_mode) or not beside.st_size:
        return None  # a power cut can leave an empty file
    return max(found.st_ctime_ns, beside.st_ctime_ns)


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


def collisions(out: str, planned: Iterable[str], before: dict[str, ManifestPage]) -> list[str]:
    """Return planned paths that others have taken: pages by a file, folders by a link or a file."""
    if not os.path.isdir(out):
        if os.path.lexists(out):
            raise UserError(f"{out} is not a folder", "Name a folder for the book (--out)")
        return []
    taken: dict[str, None] = {}
    folders: dict[str, bool] = {"": True}  # whether each exists and is a folder
    for page in planned:
        folder = os.path.dirname(page)
        if folder not in folders:
            _check_folder(out, folder, folders, taken)
        target = os.path.join(out, page)
        if page not in before and folders[folder] and os.path.lexists(target) and not _is_ours(target):
            taken[page] = None
    return list(taken)


def _check_folder(out: str, folder: str, folders: dict[str, bool], taken: dict[str, None]) -> None:
    above = os.path.dirname(folder)
    if above not in folders:
        _check_folder(out, above, folders, taken)
    folders[folder] = False
    if folders[above]:
        try:
            mode = os.lstat(os.path.join(out, folder)).st_mode
        except OSError:
            return
        folders[folder] = stat.S_ISDIR(mode)
        if not stat.S_ISDIR(mode):
            taken[folder] = None


def _is_ours(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    if os.path.basename(path) == MANIFEST:
        with open(path, "rb") as file:
            return own_output.resembles_signature(file.read(len(SIGN)), SIGN)
    return not os.path.getsize(path) or own_output.is_own_page(path)


class PathTaken(UserError):
    """A page would overwrite a file that the program did not write."""

    def __init__(self, out: str, pages: list[str]) -> None:
        shown = ", ".join(pages[:5]) + (f" and {len(pages) - 5:,} more" if len(pages) > 5 else "")
        advice = "Write the book elsewhere (--out), or move those files"
        super().__init__(f"{out} contains files that Concordance did not write where pages would go: {shown}", advice)
