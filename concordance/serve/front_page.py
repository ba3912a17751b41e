"""Cache of the front page, so that a server that has just started can show it at once.

Rendering the front page needs all names of the repository, which takes a while to read. In: the metadata of a store.
Out: the page, if it was rendered from exactly this store by exactly this version of the program. It is kept in the
user's cache, not in the repository, which may contain whatever somebody put there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

import msgspec

from concordance.base import config_file, confined_folder
from concordance.base.config import cache_folder
from concordance.facts import code_versions
from concordance.facts.integrity.checksums import read_record, write_record
from concordance.serve.messages import ReaderReply

SETTINGS = (config_file.FILE, config_file.SHARED)
_LARGEST = 1 << 20  # bytes read of a settings file


class _CachedPage(msgspec.Struct):
    version: str
    reply: ReaderReply


def version_of(root: str, meta: Mapping[str, str], live: bool) -> str:
    """Return a digest that differs if a page may differ: because of the store, the settings, or the program."""
    settings = [_text(os.path.join(root, name)) for name in SETTINGS]
    made_of = repr((os.path.realpath(root), sorted(meta.items()), settings, live, _program()))
    return hashlib.blake2b(made_of.encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()


def _text(path: str) -> bytes:
    try:
        with confined_folder.open_regular_file(path) as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


@cache
def _program() -> str:
    return code_versions.site()


def _place(root: str, live: bool) -> str:
    name = hashlib.blake2b(os.fsencode(os.path.realpath(root)) + b"\0live" * live, digest_size=12).hexdigest()
    return os.path.join(cache_folder(), "front", name)


def cached_front_page(root: str, version: str, live: bool) -> ReaderReply | None:
    """Return the cached front page of a version; None if there is none."""
    cached = read_record(_place(root, live), _CachedPage)
    return cached.reply if cached is not None and cached.version == version else None


def cache_front_page(root: str, version: str, live: bool, reply: ReaderReply) -> None:
    """Cache the front page for the next start; errors are ignored, as they only make that start slower."""
    place = _place(root, live)
    with suppress(OSError):
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        write_record(place, _CachedPage(version, reply))
