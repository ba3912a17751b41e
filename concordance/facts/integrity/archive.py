"""One file that carries a store to another machine, with those facts of the user's cache that the store consists of.

In: the folder of a store, and an archive to write; or an archive, and an empty folder. Out: the other. An archive is a
header and a compressed stream of records, each with a name, a size and its bytes; the last is a digest of all others.
Nothing may be used before the whole has been read: names, sizes and the digest are checked on the way, and only names
that a store's files have are accepted. There are no links in it, so none can be created.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterator
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

import zstandard

from concordance.base.confined_folder import open_regular_file
from concordance.base.errors import UserError
from concordance.facts import code_versions, schema
from concordance.facts.cache import Cache, CachedFile, CachedFileDecoder
from concordance.facts.read import Facts

MAGIC = b"concord pack 1\n"
_HEADER = struct.Struct("<I")
_RECORD = struct.Struct("<HQ")  # sizes of a name and of the bytes
# The path of a file that a store may contain
_STORE_FILE = re.compile(
    r"(?:index\.db|pages-[0-9a-f]{12}\.db)(?:\.sums)?|text/(?:[a-z]{1,20}/){0,2}[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}"
)
_CACHED = re.compile(r"cache/([0-9a-f]{64})")
_PIECE = 1 << 20
_MAX_HEADER, _MAX_NAME, _MAX_RECORDS = 10_000, 500, 5_000_000
_MAX_FACTS = 256 << 20  # bytes of the facts of one file
_MAX_RATIO, _MAX_BYTES = 200, 64 << 30  # unpacked bytes, relative to the size of the archive, and in total
_WINDOW = 1 << 27  # bytes of memory that decompression may take


class ArchiveContents(NamedTuple):
    """What an archive contains."""

    files: int
    facts: int
    size: int  # bytes, unpacked


class ArchiveRefused(UserError):
    """A file is not an archive, is damaged, or is not for this version."""


def pack(folder: str, cache: Cache, target: BinaryIO) -> ArchiveContents:
    """Write the store in a folder, which nobody may be writing, as an archive."""
    header = json.dumps({"schema": schema.VERSION, "readers": code_versions.readers()}).encode()
    target.write(MAGIC + _HEADER.pack(len(header)) + header)
    digest, files, facts, size = blake2b(digest_size=32), 0, 0, 0
    with zstandard.ZstdCompressor(3, threads=-1).stream_writer(target, closefd=False) as stream:

        def write(data: bytes) -> None:
            digest.update(data)
            stream.write(data)

        for name in sorted(store_files(folder)):
            with open_regular_file(os.path.join(folder, name), follow=False) as file:
                left = os.fstat(file.fileno()).st_size
                files, size = files + 1, size + left
                write(_RECORD.pack(len(name), left) + name.encode())
                while left and (piece := file.read(min(left, _PIECE))):
                    write(piece)
                    left -= len(piece)
            if left:
                raise UserError(f"{name} of the store became shorter while it was read", "Run it again")
        for key, value in _cached_facts(folder, cache):
            facts, size = facts + 1, size + len(value)
            name = f"cache/{key.hex()}"
            write(_RECORD.pack(len(name), len(value)) + name.encode())
            write(value)
        stream.write(_RECORD.pack(0, digest.digest_size) + digest.digest())
    return ArchiveContents(files, facts, size)


def store_files(folder: str) -> Iterator[str]:
    """Yield the paths of a store's files."""
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(above, name), folder).replace(os.sep, "/")
            if _STORE_FILE.fullmatch(path):
                yield path


def _cached_facts(folder: str, cache: Cache) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries of a cache that are facts of the store: others may be about other repositories."""
    with Facts(folder, alone=True) as facts:
        wanted = {_digest(file) for file in facts.cached_files()}
    decoder = CachedFileDecoder()
    for key, value in cache.items():
        try:
            file = decoder.decode(value)
        except ValueError:  # its key is of another version
            continue
        if _digest(file) in wanted:
            yield key, value


def _digest(file: CachedFile) -> bytes:
    """Return a digest of a file's facts without its words, which a store does not have."""
    digest = blake2b(digest_size=16)
    for part in file._replace(words=b""):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def unpack(source: BinaryIO, folder: str, cache: Cache) -> ArchiveContents:
    """Write the files of an archive into an empty folder, and its facts into a cache; ArchiveRefused if anything in it
    is not as it should be."""
    try:
        _check_header(source)
        size = os.fstat(source.fileno()).st_size
        most = min(_MAX_BYTES, _MAX_RATIO * size + _PIECE)
        with zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(source, closefd=False) as stream:
            return _unpack_records(_HashedStream(stream, most), folder, cache)
    except (zstandard.ZstdError, struct.error, EOFError, UnicodeDecodeError, ValueError) as error:
        raise ArchiveRefused("The file is damaged", "Pack it again, or build without it") from error


def _check_header(source: BinaryIO) -> None:
    if source.read(len(MAGIC)) != MAGIC:
        what = "the file was not written by `concord pack` of this version"
        raise ArchiveRefused(what, "To read the source instead: concord build")
    (size,) = _HEADER.unpack(source.read(_HEADER.size))
    if size > _MAX_HEADER:
        raise EOFError
    header = json.loads(source.read(size))
    ours = {"schema": schema.VERSION, "readers": code_versions.readers()}
    if header != ours:
        advice = "Use the same version here and there, or build without it"
        raise ArchiveRefused("The file was packed by another version of Concordance or of its parsers", advice)


class _HashedStream:
    """Reads exactly as many bytes as asked, and hashes them."""

    def __init__(self, stream: zstandard.ZstdDecompressionReader, most: int) -> None:
        self._stream, self._left = stream, most
        self.digest = blake2b(digest_size=32)

    def read(self, size: int) -> bytes:
        """Return `size` bytes; raise EOFError if there are fewer, or if the total exceeds the limit."""
        self._left -= size
        if self._left < 0:
            raise EOFError
        data = bytearray()
        while len(data) < size:
            piece = self._stream.read(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        self.digest.update(data)
        return bytes(data)

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield `size` bytes piece by piece."""
        for at in range(0, size, _PIECE):
            yield self.read(min(_PIECE, size - at))


def _unpack_records(stream: _HashedStream, folder: str, cache: Cache) -> ArchiveContents:
    seen, facts, total = set[str](), 0, 0
    for _ in range(_MAX_RECORDS):
        before = stream.digest.hexdigest()
        name_size, size = _RECORD.unpack(stream.read(_RECORD.size))
        if not name_size:
            if size != stream.digest.digest_size or stream.read(size).hex() != before:
                raise EOFError
            return ArchiveContents(len(seen), facts, total)
        if name_size > _MAX_NAME:
            raise EOFError
        name = stream.read(name_size).decode("ascii")
        total += size
        if key := _CACHED.fullmatch(name):
            if size > _MAX_FACTS:
                raise EOFError
            cache.put([(bytes.fromhex(key[1]), stream.read(size))])
            facts += 1
        elif _STORE_FILE.fullmatch(name) and name not in seen:
            seen.add(name)
            path = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "xb") as file:
                for piece in stream.pieces(size):
                    file.write(piece)
        else:
            raise ArchiveRefused(f"The file contains {name!r}, which is not part of a store", "Do not use this file")
    raise EOFError
