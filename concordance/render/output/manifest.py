"""What was written: the list of all pages of a book, and how pages and lists reach the disk.

In: pages as text. Out: files, each written aside and renamed, and only where it is not already as it should be; a
`manifest.json` that names every page with its checksum. By it the next run knows which pages are the last one's. A
file that does not end as a page of ours does is never touched, whatever a manifest says.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

from concordance.base import confined_folder
from concordance.base.confined_folder import ConfinedFolder, NotFollowed, NotRegular, is_inside
from concordance.base.errors import UserError
from concordance.base.version import VERSION
from concordance.collect import own_output
from concordance.collect.own_output import CLAIM, CLAIMS, GENERATOR, MANIFEST, SIGN
from concordance.render.addresses import claims_of

_ASIDE = re.compile(r"\d+\.new")  # a file that is being written, named by its process


class ManifestPage(NamedTuple):
    """One page of the book, as the manifest lists it."""

    page: str  # its path in the book
    kind: str
    checksum: str
    size: int
    claims: int  # how many statements of it rest on a line of the source
    claims_checksum: str  # "" where there are none
    inputs: str  # the digest of what it is about


class Manifest(NamedTuple):
    """What a manifest says."""

    pages: dict[str, ManifestPage]
    unfinished: bool = False  # the run that began to write was stopped, so there may be pages that it does not name
    sound: bool = True  # it begins as this program would write it for these pages


def digest(data: bytes) -> str:
    """The checksum of a file."""
    return blake2b(data, digest_size=16).hexdigest()


def read(out: str) -> Manifest:
    """The pages that the last run wrote into a folder; none where there is no manifest of ours. A damaged one names
    none, and is unfinished."""
    data = b""
    try:
        with confined_folder.opened(os.path.join(out, MANIFEST)) as file:
            data = file.read()
        known = json.loads(data)
        if known["generator"] != GENERATOR:
            return Manifest({}, own_output.is_like(data, SIGN), False)
    except OSError:
        return Manifest({})
    except (ValueError, KeyError, TypeError, RecursionError):
        return Manifest({}, own_output.is_like(data, SIGN), False)
    try:
        pages = {page: ManifestPage(page, *row) for page, row in known["pages"].items() if own_output.is_page(page)}
        sound = data.startswith(_head(_counted(pages.values())).encode())
        return Manifest(pages, bool(known.get("unfinished")), sound)
    except (KeyError, TypeError, AttributeError):  # of another version
        return Manifest({}, True, False)


def mark(pages: Iterable[ManifestPage]) -> str:
    """What is another where other pages, or the same with other words, are listed."""
    known = sorted("\0".join(map(str, row)) for row in pages)
    return digest("\0\0".join(known).encode("utf-8", "backslashreplace"))


def version(out: str) -> str:
    """The version of the program that wrote a book; "" where it is not known."""
    try:
        with confined_folder.opened(os.path.join(out, MANIFEST)) as file:
            return str(json.load(file)["version"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


class RunMarker:
    """Notes, before the first file is changed, that a run has begun: where it is stopped, the next one knows that there
    may be pages that no manifest names."""

    def __init__(self, folder: ConfinedFolder, before: dict[str, ManifestPage]) -> None:
        self.folder, self.before = folder, before
        self.done = False

    def __call__(self) -> None:
        """Notes it, once."""
        if not self.done:
            self.done = True
            put(self.folder, MANIFEST, _listed(self.before.values(), {"unfinished": True}))


def tidy(folder: ConfinedFolder) -> None:
    """Removes files that a killed run had not finished writing."""
    with suppress(OSError, NotFollowed):
        for name in folder.names(CLAIMS):
            if _ASIDE.fullmatch(name):
                folder.unlink(f"{CLAIMS}/{name}")


def listing(pages: Collection[ManifestPage], unfinished: bool) -> bytes:
    """The list of all pages."""
    return _listed(pages, {**_counted(pages), **({"unfinished": True} if unfinished else {})})


def _counted(pages: Collection[ManifestPage]) -> dict[str, object]:
    totals = {"pages": len(pages), "bytes": sum(row.size for row in pages), "claims": sum(row.claims for row in pages)}
    return {"counts": totals}


def _listed(pages: Iterable[ManifestPage], more: dict[str, object]) -> bytes:
    listed = ",\n".join(map(_line, sorted(pages)))
    return f"{_head(more)}{listed}\n }}\n}}\n".encode("utf-8", "backslashreplace")


def _head(more: dict[str, object]) -> str:
    """How the list begins."""
    head = {"generator": GENERATOR, "version": VERSION, **more, "columns": list(ManifestPage._fields[1:])}
    return json.dumps(head, indent=1)[:-2] + ',\n "pages": {\n'


@cache
def _line(row: ManifestPage) -> str:
    """A page as it is listed; each is so at least twice, when a run begins and when it ends."""
    return f"  {json.dumps(row.page)}: {json.dumps(list(row[1:]))}"


def put(folder: ConfinedFolder, path: str, data: bytes, begin: Callable[[], None] | None = None) -> bool:
    """Makes a file of the book say this; False where it already does. `begin` is called before it is changed."""
    try:
        there = folder.read(path)
    except FileNotFoundError:
        pass
    except NotRegular:
        raise PathTaken(folder.path, [path]) from None
    else:
        if there == data:
            return False
        ours = own_output.is_ours(there) or own_output.is_like(there, SIGN if path == MANIFEST else CLAIM)
        if there and not (ours or _is_same_page(there, data)):
            raise PathTaken(folder.path, [path])
    if begin is not None:
        begin()
    folder.write(f"{CLAIMS}/{os.getpid()}.new", path, data)  # one at a time
    return True


def _is_same_page(there: bytes, data: bytes) -> bool:
    """True if a file is a page that was cut short, or that somebody added to: it begins with the same title."""
    return data.startswith(there) or there.partition(b"\n")[0] == data.partition(b"\n")[0]


def drop(folder: ConfinedFolder, path: str) -> bool:
    """Removes a file of claims, where it is there."""
    try:
        data = folder.read(path)
        if data and not data.startswith(CLAIM):
            return False
        folder.unlink(path)
    except (FileNotFoundError, NotRegular, NotFollowed):
        return False
    return True


def remove(folder: ConfinedFolder, pages: Iterable[str]) -> int:
    """Removes pages that no longer exist, and the folders that they leave empty. A manifest may name anything: only a
    file that is named like a page and ends as a page of ours does is removed."""
    count = 0
    folders: set[str] = set()
    for page in pages:
        if not is_inside(page) or not own_output.is_page(page) or _is_written(folder, page) is False:
            continue
        with suppress(OSError, NotFollowed):
            folder.unlink(page)
            count += 1
        with suppress(OSError):
            drop(folder, claims_of(page))
        folders |= {os.path.dirname(page), os.path.dirname(claims_of(page))}
    for one in folders:
        remove_empty(folder, one)
    return count


def _is_written(folder: ConfinedFolder, page: str) -> bool | None:
    """True if the program wrote a page; None where there is none."""
    try:
        return own_output.is_ours(folder.read(page))
    except FileNotFoundError:
        return None
    except (OSError, NotFollowed):
        return False


def remove_empty(folder: ConfinedFolder, inside: str) -> None:
    """Removes a folder and those above it, as far as nothing is in them."""
    while inside:
        try:
            folder.rmdir(inside)
        except FileNotFoundError:
            pass
        except (OSError, NotFollowed):  # not empty, or not ours
            return
        inside = os.path.dirname(inside)


def strays(folder: ConfinedFolder, named: set[str]) -> Iterator[str]:
    """The pages of ours in a folder that are not among the named, nor of another book in it."""
    out = folder.path
    others = tuple(f"{book.folder}/" for book in own_output.books(out, files(out)) if book.folder)
    for path in files(out):
        if not path.startswith(others) and path not in named and own_output.is_page(path) and _is_written(folder, path):
            yield path


def files(out: str) -> Iterator[str]:
    """Every file in the folder of a book."""
    start = len(os.path.join(out, ""))
    for folder, _, names in os.walk(out):
        inside = folder[start:]
        for name in names:
            yield f"{inside}/{name}" if inside else name


def astray(out: str, pages: dict[str, ManifestPage]) -> list[str]:
    """The pages that are not there as they were written. It is asked before each run and must cost little: a file is
    compared by its digest only where it was changed after the manifest, which is written last."""
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
        with suppress(OSError):  # the next run need not look at them again
            os.utime(path)
    return found


def _status(out: str, page: str, row: ManifestPage) -> int | None:
    """When a page or its claims were last changed; None where they are not there, or of another size."""
    try:
        found = os.lstat(os.path.join(out, page))
        beside = os.lstat(os.path.join(out, claims_of(page))) if row.claims else found
    except OSError:
        return None
    if found.st_size != row.size or not stat.S_ISREG(found.st_mode) or not beside.st_size:
        return None  # a power cut may leave a file empty
    return max(found.st_ctime_ns, beside.st_ctime_ns)


def edited(out: str, pages: Iterable[ManifestPage]) -> list[str]:
    """Those pages that are not, byte for byte, what their manifest lists."""
    return [row.page for row in pages if not _is_as_listed(out, row)]


def _is_as_listed(out: str, row: ManifestPage) -> bool:
    data = contents(os.path.join(out, row.page))
    if data is None or digest(data) != row.checksum:
        return False
    beside = contents(os.path.join(out, claims_of(row.page)))
    return (digest(beside) if beside is not None else "") == row.claims_checksum


def contents(path: str) -> bytes | None:
    """The bytes of a regular file; None where there is none."""
    try:
        with confined_folder.opened(path) as file:
            return file.read()
    except OSError:
        return None


def collisions(out: str, planned: Iterable[str], before: dict[str, ManifestPage]) -> list[str]:
    """The planned pages whose places are taken by files that are not the program's, and links among its folders."""
    if not os.path.isdir(out):
        if os.path.lexists(out):
            raise UserError(f"{out} is no folder", "Name a folder for the book (--out)")
        return []
    taken: dict[str, None] = {}
    folders: dict[str, bool] = {"": True}  # whether it is there, and a folder
    for page in planned:
        folder = os.path.dirname(page)
        if folder not in folders:
            _look_at(out, folder, folders, taken)
        target = os.path.join(out, page)
        if page not in before and folders[folder] and os.path.lexists(target) and not _is_ours(target):
            taken[page] = None
    return list(taken)


def _look_at(out: str, folder: str, folders: dict[str, bool], taken: dict[str, None]) -> None:
    above = os.path.dirname(folder)
    if above not in folders:
        _look_at(out, above, folders, taken)
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
            return own_output.is_like(file.read(len(SIGN)), SIGN)
    return not os.path.getsize(path) or own_output.is_written(path)


class PathTaken(UserError):
    """A page would take the place of a file that the program did not write."""

    def __init__(self, out: str, pages: list[str]) -> None:
        shown = ", ".join(pages[:5]) + (f" and {len(pages) - 5:,} more" if len(pages) > 5 else "")
        advice = "Write the book elsewhere (--out), or move them"
        super().__init__(f"{out} holds files of others where pages would stand: {shown}", advice)
