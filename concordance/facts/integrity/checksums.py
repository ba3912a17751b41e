"""Checksums of databases, so that damage is found before damaged data is used.

In: the path of a database that only this program writes. Out: two small files next to it, and whether the database
matches them. `PATH.sums` holds a digest of every page as last committed. `PATH.seen` holds the size, times and inode of
the database and of its write-ahead log when they last matched those digests.

Hashing a store of a gigabyte before every query would take a second, so a reader only compares the status of the files
with `PATH.seen`. Whatever writes to a file changes its status, be it one bit: a copy, a restored backup, another
program. Only then are all pages hashed, once. Digests of rows would not be enough: a damaged index hides rows.

An update is committed to the log, which SQLite moves into the database later, page by page. So a page is good if its
content, in the log or else in the database, has the recorded digest. If a build was killed between its commit and
recording the digests, the log holds further frames, which SQLite protects by its own checksums; pages that match with
them are good, too.
"""

from __future__ import annotations

import os
import time
from contextlib import closing, suppress
from hashlib import blake2b
from typing import NamedTuple, TypeVar

import msgspec

from concordance.base.confined_folder import open_regular_file
from concordance.base.errors import StoreBroken
from concordance.facts import schema
from concordance.facts.integrity import lock
from concordance.facts.integrity.failures import FAILURES
from concordance.facts.integrity.page_digests import SIZE, hash_apart, page_digests

_LIST = "sums"
_REPLACED = (".json", ".lock")  # files that an update rewrites under the same name
_OF_WRITERS = ".managed.json"  # the index's own list of files to remove, which an update changes before it commits
_READ_BYTES = 1 << 20
_RECORD_DIGEST_SIZE = 16  # bytes of the digest at the start of each file written here
_HEADER, _FRAME = 32, 24  # bytes of the log's header, and of the header before each page in it
_MAX_WAIT = 10.0  # seconds that a reader waits for a build that is about to record its digests
SUMS, VERIFIED = ".sums", ".seen"

_Status = tuple[int, ...]
Row = TypeVar("Row")


class _Sums(NamedTuple):
    """The digests of a database."""

    page: int  # bytes of a page
    pages: bytes  # the digests, concatenated
    salt: bytes = b""  # of the log that was read last …
    frames: int = 0  # … and how many of its frames the digests include


class _VerifiedStatus(NamedTuple):
    """The status of a database and its log when they matched their digests."""

    database: _Status
    log: _Status


class _Log(NamedTuple):
    """What a write-ahead log adds to a database."""

    salt: bytes
    frames: int
    pages: dict[int, bytes]  # digests by page number, of the last committed version
    size: int  # of the database in pages; 0 if nothing was committed


def write_record(path: str, record: object, durable: bool = False) -> None:
    """Write a value, preceded by its digest, atomically. `durable`: wait until it is on disk."""
    packed = msgspec.msgpack.encode(record)
    aside = f"{path}.{os.getpid()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(aside, flags, 0o644), "wb") as file:
        file.write(_digest(packed, _RECORD_DIGEST_SIZE) + packed)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(aside, path)


def read_record(path: str, kind: type[Row]) -> Row | None:
    """Return a value that `write_record` wrote; None if there is none, or if it is damaged."""
    try:
        with open_regular_file(path, follow=False) as file:
            data = file.read()
        if _digest(data[_RECORD_DIGEST_SIZE:], _RECORD_DIGEST_SIZE) != data[:_RECORD_DIGEST_SIZE]:
            return None
        return msgspec.msgpack.decode(data[_RECORD_DIGEST_SIZE:], type=kind)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def move_sealed(temporary: str, path: str) -> None:
    """Replace a database by one that was written as a whole, and record its digests."""
    sums = _sums(b"".join(page_digests(temporary)))  # no connection to it is open
    with suppress(FileNotFoundError):
        os.remove(path + VERIFIED)
    os.replace(temporary, path)
    write_record(path + SUMS, sums)
    note_verified(path)


def add_committed(path: str) -> None:
    """Record the digests of what was just committed to the log.

    Must be called before the log is moved into the database: until then, old pages can be told from damaged ones even
    if the build is killed.
    """
    known = read_record(path + SUMS, _Sums)
    if known is None:  # damaged; the database itself was verified before it was written to
        known = _sums(hash_apart(path))
    log = _log(path, known.page, known.salt, known.frames)
    write_record(path + SUMS, _with_log(known, log))


def note_verified(path: str) -> None:
    """Record that the files match their digests in their current state."""
    with suppress(OSError):  # a missing record only means another check
        write_record(path + VERIFIED, _status(path))


def distrust(path: str) -> None:
    """Make the next reader check all pages: something was found to be wrong, whatever the status of the file says."""
    with suppress(OSError):
        os.remove(path + VERIFIED)


def remove(path: str) -> None:
    """Remove the checksums of a database."""
    for end in (SUMS, VERIFIED):
        with suppress(FileNotFoundError):
            os.remove(path + end)


def require_intact(path: str, alone: bool) -> None:
    """Raise StoreBroken if a database is damaged.

    `alone`: no other process can be about to write it, because the caller holds the lock of its folder.
    """
    if _is_verified(path):
        return
    folder, end = os.path.dirname(path), time.monotonic() + _MAX_WAIT
    while not alone and lock.is_held(folder) and time.monotonic() < end:
        time.sleep(0.02)
        if _is_verified(path):
            return
    problem = find_damage(path)
    if problem and not _is_verified(path):  # a build may have finished in the meantime
        raise StoreBroken(f"{path} is damaged: {problem}", "Rebuild it with: concord build")


def find_damage(path: str) -> str:
    """Check all checksums of a database; return what is wrong, or ""."""
    before = _status_or_none(path)
    known = read_record(path + SUMS, _Sums)
    if before is None or known is None:
        return "its checksums are missing or damaged"
    late = _log(path, known.page, known.salt, known.frames)
    if before.log[0] and os.access(os.path.dirname(path), os.W_OK):
        _empty_log(path)
    try:
        before = _status(path)
        digests, log = _sums(hash_apart(path, known.page)), _log(path, known.page)
    except OSError as error:
        return error.strerror or str(error)
    now = _with_log(digests, log)
    wanted = (known, _with_log(known, late))
    if now.pages not in [sums.pages for sums in wanted]:
        return f"{_differing(now, wanted[-1])} of {len(now.pages) // SIZE:,} pages do not match their checksums"
    if now.pages != known.pages:
        with suppress(OSError):
            write_record(path + SUMS, now._replace(salt=late.salt, frames=late.frames))
    if _status_or_none(path) == before:
        with suppress(OSError):
            write_record(path + VERIFIED, before)
    return ""


def _differing(one: _Sums, other: _Sums) -> int:
    ends = range(0, max(len(one.pages), len(other.pages)), SIZE)
    return sum(one.pages[at : at + SIZE] != other.pages[at : at + SIZE] for at in ends)


def _empty_log(path: str) -> None:
    """Have SQLite move committed pages from the log into the database, as far as readers permit."""
    with suppress(*FAILURES), closing(schema.connect(path, "rw")) as connection:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


# --- digests and status of files


def _digest(data: bytes | memoryview, size: int = SIZE) -> bytes:
    return blake2b(data, digest_size=size).digest()


def _is_verified(path: str) -> bool:
    seen = read_record(path + VERIFIED, _VerifiedStatus)
    return seen is not None and seen == _status_or_none(path)


def _status_or_none(path: str) -> _VerifiedStatus | None:
    try:
        return _status(path)
    except OSError:
        return None


def _status(path: str) -> _VerifiedStatus:
    status = os.lstat(path)
    database = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    try:
        log = os.lstat(f"{path}-wal")
    except FileNotFoundError:
        return _VerifiedStatus(database, (0,))
    # SQLite sets the owner of a log that it opens, which changes its change time: leave that out.
    return _VerifiedStatus(database, (log.st_size, log.st_mtime_ns, log.st_ino) if log.st_size else (0,))


def _sums(hashes: bytes) -> _Sums:
    """Return the digests of the pages of a database, without its log."""
    return _Sums(int.from_bytes(hashes[:4], "big"), hashes[4:])


def _log(path: str, page: int, salt: bytes = b"", frames: int = 0) -> _Log:
    """Return what was committed to the log; if it has this salt, only what follows so many frames."""
    try:
        with open(f"{path}-wal", "rb") as file:
            header = file.read(_HEADER)
            now = header[16:24]
            if len(header) < _HEADER or int.from_bytes(header[8:12], "big") != page:
                return _Log(b"", 0, {}, 0)
            count = frames if now == salt else 0
            file.seek(_HEADER + count * (_FRAME + page))
            waiting: dict[int, bytes] = {}
            done = _Log(now, count, {}, 0)
            while len(frame := file.read(_FRAME + page)) == _FRAME + page and frame[8:16] == now:
                count += 1
                waiting[int.from_bytes(frame[:4], "big")] = _digest(memoryview(frame)[_FRAME:])
                if size := int.from_bytes(frame[4:8], "big"):  # the last frame of a transaction
                    done = _Log(now, count, {**done.pages, **waiting}, size)
                    waiting = {}
            return done
    except OSError:
        return _Log(b"", 0, {}, 0)


def _with_log(sums: _Sums, log: _Log) -> _Sums:
    """Return the digests of a database including its log."""
    if not log.size:
        return sums
    pages = bytearray(sums.pages[: log.size * SIZE].ljust(log.size * SIZE, b"\0"))
    for number, digest in log.pages.items():
        if number <= log.size:
            pages[(number - 1) * SIZE : number * SIZE] = digest
    return _Sums(sums.page, bytes(pages), log.salt, log.frames)


# --- checksums of a folder
# For the full-text index: a folder of files that are written once and then only replaced. A list of all files with
# their digests is stored in the folder. As for databases, a file is hashed only if its status changed since it was last
# verified.
#
# While an index is being changed, or after a build that changed it was killed, the list still describes the index
# before. The list names the build it belongs to, which reveals this. Then files that an update replaces are not
# checked, and files that are never rewritten must match if they still exist.


class _ListedDigest(NamedTuple):
    """A file that was verified."""

    digest: bytes
    status: tuple[int, ...]


class _List(NamedTuple):
    """All files of a folder."""

    index_digest: bytes  # the digest of the file that describes the index
    files: dict[str, _ListedDigest]


def note_files(place: str, description: str) -> None:
    """Record the digests of all files; a file that is already listed with its current status is not read again."""
    known = read_record(os.path.join(place, _LIST), _List)
    before = known.files if known is not None else {}
    files = {}
    for path, status in _list_files(place).items():
        had = before.get(path)
        same = had is not None and had.status == status
        files[path] = (
            had if had is not None and same else _ListedDigest(_file_digest(os.path.join(place, path)), status)
        )
    write_record(os.path.join(place, _LIST), _List(_file_digest(os.path.join(place, description)), files))


def damaged_files(place: str, description: str, trusting: bool = True) -> list[str]:
    """Return the files that are missing or do not match their digests. Unless `trusting`, read all of them."""
    listed = read_record(os.path.join(place, _LIST), _List)
    if listed is None:
        return [_LIST]
    try:
        settled = _file_digest(os.path.join(place, description)) == listed.index_digest
    except OSError:
        return [description]
    statuses, wrong, renewed = _list_files(place), [], dict(listed.files)
    for path, row in listed.files.items():
        if not settled and (path == description or path.endswith(_REPLACED)):
            continue
        status = statuses.get(path)
        if trusting and status == row.status:
            continue
        try:
            if status is None:
                wrong += [path] if settled else []
            elif _file_digest(os.path.join(place, path)) != row.digest:
                wrong.append(path)
            else:
                renewed[path] = row._replace(status=status)
        except OSError:
            wrong.append(path)
    if not wrong and renewed != listed.files:
        with suppress(OSError):
            write_record(os.path.join(place, _LIST), listed._replace(files=renewed))
    return wrong


def _list_files(place: str) -> dict[str, tuple[int, ...]]:
    """Return every file to be listed, with its status."""
    statuses: dict[str, tuple[int, ...]] = {}
    for top, _, names in os.walk(place):
        for name in names:
            path = os.path.join(top, name)
            inside = path[len(place) + 1 :]
            if inside != _LIST and name != _OF_WRITERS and not name.endswith((".lock", ".new")):
                with suppress(FileNotFoundError):
                    seen = os.lstat(path)
                    statuses[inside] = (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)
    return statuses


def _file_digest(path: str) -> bytes:
    digest = blake2b(digest_size=16)
    with open_regular_file(path, follow=False) as file:
        while block := file.read(_READ_BYTES):
            digest.update(block)
    return digest.digest()
