"""A cache of facts that several machines share, in any storage that `fsspec` can reach.

In: the address of a folder there, and the version of the readers. Out: which facts exist for which content, and the
facts. Nothing in the storage is trusted: an object that is not as this module writes it, or larger than it may be, and
an entry whose digest does not fit its key, are skipped, and their files are parsed.

An object for each file would cost a request for each. Instead, each upload writes a *segment*, with the facts of many
files in compressed blocks, and an *index* of it, by which readers find the blocks that they need. Both are named after
their content and never change, so builders need no lock. A version of the readers has a folder of its own; old ones
can be deleted at any time, for example by a rule of the bucket.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

import zstandard

from concordance.base.errors import ConcordanceError
from concordance.facts.cache import checked, decompress, decompressor, sealed

_MAGIC = b"concord1"
_DIGEST = 16  # bytes
_ROW = struct.Struct("<32s32sQII")  # digest of a content, key of its facts, and the place of their block
_ENTRY = struct.Struct("<32sI")  # key and size of a sealed value
BLOCK_BYTES = 1 << 20  # of facts in a block, before compression
_MAX_BLOCK = 256 << 20  # bytes, compressed or not: more than the facts of the largest file that is parsed
_MAX_INDEX = 64 << 20  # bytes of an index, compressed or not
_MAX_INDEXES = 20_000  # indexes that are read
_MAX_SAME = 8  # facts for one content: they differ by its language, its encoding and the macros it uses
_NAME = re.compile(r"[0-9a-f]{32}")
_CREDENTIALS = re.compile(r"(?<=://)[^/@]*@|[?#].*")
_LOCAL_SCHEME = "file://"
_TIMEOUTS = {"connect_timeout": 5, "read_timeout": 30, "retries": {"max_attempts": 2}}  # seconds


class SharedCacheFailed(ConcordanceError):
    """The storage cannot be read or written."""


class CachedBlock(NamedTuple):
    """The place of a block."""

    segment: str
    at: int
    size: int
    unpacked: int  # its size when it is decompressed


class SharedCache:
    """The folder of one version in a shared storage."""

    def __init__(self, address: str, version: str) -> None:
        """Connect to `address`; a path without a scheme is a local folder."""
        self.address = _with_scheme(address)
        try:
            import fsspec

            scheme = self.address.partition("://")[0]
            options = {"config_kwargs": _TIMEOUTS} if scheme in ("s3", "s3a") else {}
            self._storage, folder = fsspec.url_to_fs(self.address, use_listings_cache=False, **options)
        except Exception as error:
            raise self._failed("opened", error) from None
        self._folder = f"{folder.rstrip('/')}/{version}"

    def read_index(self) -> dict[bytes, list[tuple[bytes, CachedBlock]]]:
        """Return the keys of facts and their blocks, by the digest of the content that they are about."""
        try:
            listed = self._storage.find(f"{self._folder}/index", detail=True)
            known = sorted(path for path, about in listed.items() if (about.get("size") or 0) <= _MAX_INDEX)
            paths = [path for path in known if _NAME.fullmatch(path.rpartition("/")[2])][:_MAX_INDEXES]
            objects = self._storage.cat(paths, on_error="omit") if paths else {}
        except FileNotFoundError:  # nobody has written yet
            return {}
        except Exception as error:
            raise self._failed("read", error) from None
        blocks: dict[bytes, list[tuple[bytes, CachedBlock]]] = {}
        for path in paths:
            for digest, key, block in _index_rows(path.rpartition("/")[2], objects.get(path, b"")):
                same = blocks.setdefault(digest, [])
                if len(same) < _MAX_SAME:
                    same.append((key, block))
        return blocks

    def read_blocks(self, blocks: list[CachedBlock]) -> tuple[list[tuple[bytes, bytes]], int]:
        """Return the keys and facts in blocks, and how many blocks and entries are missing or damaged."""
        starts = [block.at for block in blocks]
        ends = [block.at + block.size for block in blocks]
        try:
            paths = [f"{self._folder}/segment/{block.segment}" for block in blocks]
            pieces = self._storage.cat_ranges(paths, starts, ends, on_error="return")
        except Exception as error:
            raise self._failed("read", error) from None
        facts_by_key, damaged = [], 0
        for block, piece in zip(blocks, pieces, strict=True):
            if isinstance(piece, Exception) and not isinstance(piece, FileNotFoundError):
                raise self._failed("read", piece)
            entries = list(_entries(block, piece)) if isinstance(piece, bytes) else []
            facts_by_key += [(key, facts) for key, facts in entries if facts is not None]
            damaged += sum(facts is None for _, facts in entries) or not entries
        return facts_by_key, damaged

    def write(self, rows: Iterable[tuple[bytes, bytes, bytes]]) -> int:
        """Store facts, each with the digest of its content and its key; return the bytes that were written."""
        segment, index = bytearray(), bytearray()
        for block in _blocks(rows):
            body = b"".join(_ENTRY.pack(key, len(value)) + value for _, key, value in block)
            packed = zstandard.compress(body, 3)
            for digest, key, _ in block:
                index += _ROW.pack(digest, key, len(segment), len(packed), len(body))
            segment += packed
        if not segment:
            return 0
        name = blake2b(segment, digest_size=_DIGEST).hexdigest()
        packed_index = zstandard.compress(bytes(index), 3)
        try:
            if self._storage.protocol in ("file", ("file", "local")):
                for kind in ("segment", "index"):
                    self._storage.makedirs(f"{self._folder}/{kind}", exist_ok=True)
            self._storage.pipe_file(f"{self._folder}/segment/{name}", bytes(segment))
            self._storage.pipe_file(f"{self._folder}/index/{name}", _MAGIC + _seal(name, packed_index) + packed_index)
        except Exception as error:
            raise self._failed("written", error) from None
        return len(segment) + len(packed_index)

    def _failed(self, done: str, error: Exception) -> SharedCacheFailed:
        """Describe an error without its text, which may contain credentials."""
        return SharedCacheFailed(f"the shared cache {public_address(self.address)} cannot be {done}: {_reason(error)}")


def _with_scheme(address: str) -> str:
    return address if "://" in address else f"{_LOCAL_SCHEME}{os.path.abspath(address)}"


def missing_folder(address: str) -> str:
    """Return the folder of a local address, if there is no such folder yet; "" otherwise."""
    scheme, _, folder = _with_scheme(address).partition(_LOCAL_SCHEME)
    return folder if folder and not scheme and not os.path.exists(folder) else ""


def public_address(address: str) -> str:
    """Return an address without what may be a secret in it."""
    return _CREDENTIALS.sub("", address)


def _reason(error: Exception) -> str:
    name, code = type(error).__name__, _code_of_s3(error)
    if isinstance(error, ImportError):
        needs_extra = "s3fs" in str(error) or "fsspec" in str(error)
        return "it needs the extra `cache`: pip install 'repo-concordance[cache]'" if needs_extra else str(error)
    if isinstance(error, ValueError) and str(error).startswith("Protocol not known"):
        return "fsspec knows no such kind of storage"
    if isinstance(error, PermissionError) or name in ("NoCredentialsError", "PartialCredentialsError"):
        return "access was denied; check the credentials"
    if isinstance(error, ConnectionError | TimeoutError) or "Connect" in name or "Timeout" in name:
        return "the server cannot be reached"
    if code in _FULL:
        return "the storage is full"
    if isinstance(error, FileNotFoundError):
        return "there is no such bucket or folder"
    return error.strerror if isinstance(error, OSError) and error.strerror and error.errno in _LOCAL else code or name


def _code_of_s3(error: Exception) -> str:
    """Return the code in a server's answer, a word such as `SlowDown`; "" if there is none."""
    response = getattr(error.__cause__ or error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


_CODE = re.compile(r"[A-Za-z]{1,40}")
_FULL = ("XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "ServiceQuotaExceeded")
_LOCAL = (2, 13, 17, 20, 21, 28, 30, 122)  # error numbers of a local disk, whose messages name nothing secret


def _seal(name: str, data: bytes) -> bytes:
    return blake2b(data, key=name.encode(), digest_size=_DIGEST).digest()


def _index_rows(name: str, data: object) -> Iterator[tuple[bytes, bytes, CachedBlock]]:
    """Yield the rows of an index; none if it is damaged."""
    head = len(_MAGIC) + _DIGEST
    if not isinstance(data, bytes) or data[:head] != _MAGIC + _seal(name, data[head:]):
        return
    rows = decompress(data[head:], _MAX_INDEX, decompressor())
    if len(rows) % _ROW.size:
        return
    for digest, key, at, size, unpacked in _ROW.iter_unpack(rows):
        if size <= _MAX_BLOCK and unpacked <= _MAX_BLOCK and at < 1 << 40:
            yield digest, key, CachedBlock(name, at, size, unpacked)


def _entries(block: CachedBlock, data: bytes) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield the keys and facts in a block; None for facts that are damaged."""
    body = decompress(data, block.unpacked, decompressor()) if len(data) == block.size else b""
    at = 0
    while at + _ENTRY.size <= len(body):
        key, size = _ENTRY.unpack_from(body, at)
        at += _ENTRY.size
        yield key, checked(key, body[at : at + size])
        at += size


def _blocks(rows: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes, bytes]]]:
    """Yield rows in blocks, with their facts sealed."""
    now, size = list[tuple[bytes, bytes, bytes]](), 0
    for digest, key, facts in rows:
        now.append((digest, key, sealed(key, facts)))
        size += len(facts)
        if size >= BLOCK_BYTES:
            yield now
            now, size = [], 0
    if now:
        yield now
