"""The digests of a database's pages, as a function and as a script.

In: the path of a database, optionally the size of its pages. Out: that size, and the digests one after another.

As a script, it imports nothing of this program, so it starts as fast as Python. `hash_apart` runs it for a database
that its own process may have open. POSIX locks belong to a process and a file: a process that closes any descriptor of
a database loses the locks of all its connections to it. Another process that closes a connection then takes itself for
the last one, and removes the log that the first still reads; the first finds the database damaged until it ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from hashlib import blake2b

SIZE = 8  # bytes of a page's digest
_BLOCK = 64  # pages to read at once


def page_digests(path: str, page: int = 0) -> Iterator[bytes]:
    """Yield the size of a page, in four bytes, and then the digest of each page."""
    with open(path, "rb", buffering=0) as file:
        if not page:
            page = int.from_bytes(file.read(18)[16:], "big")
            page = 65536 if page == 1 else page
            file.seek(0)
        yield page.to_bytes(4, "big")
        while block := file.read(page * _BLOCK):
            view = memoryview(block)
            for at in range(0, len(block), page):
                yield blake2b(view[at : at + page], digest_size=SIZE).digest()


def hash_apart(path: str, page: int = 0) -> bytes:
    """Return the same as `page_digests`, computed in another process; raise OSError if that fails."""
    arguments = [sys.executable, "-I", "-S", os.path.abspath(__file__), os.path.abspath(path), str(page)]
    read, write = os.pipe()
    with open(read, "rb") as output:
        try:
            silent = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)  # a traceback would reach the user
            actions = [(os.POSIX_SPAWN_DUP2, write, 1), silent]
            child = os.posix_spawn(sys.executable, arguments, os.environ, file_actions=actions)
        finally:
            os.close(write)
        hashes = output.read()
    if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        raise OSError(f"its pages could not be hashed (exit code {code})")
    return hashes


if __name__ == "__main__":
    sys.stdout.buffer.writelines(page_digests(sys.argv[1], int(sys.argv[2])))
