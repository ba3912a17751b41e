"""Checking a store does not disturb those who read it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from concordance.base.errors import StoreBroken
from concordance.facts.integrity import checksums, page_digests
from concordance.facts.read import Facts
from tests.support.program import build, write

# Another process updates the store, and closes a connection before it opens the next.
_UPDATES = """
import sqlite3, sys
for number in range(2):
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute(f"CREATE TABLE added_{number} (value)")
    connection.execute("BEGIN")
    connection.executemany(f"INSERT INTO added_{number} VALUES (?)", [("x" * 100,)] * 1000)
    connection.execute("COMMIT")
    if not number:
        connection.close()
print("updated", flush=True)
sys.stdin.read()
"""


def test_a_reader_that_checks_a_store_keeps_its_locks(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def f(): ...\n"})
    build(tmp_path)
    store = tmp_path / ".concordance"
    checksums.distrust(str(store / "index.db"))
    with Facts(str(store)) as facts:
        program = [sys.executable, "-c", _UPDATES, str(store / "index.db")]
        with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None and other.stdout.readline() == "updated\n"
            connection = facts._open_database()
            assert connection.execute("SELECT count(*) FROM added_1").fetchone() == (1000,)
            connection.close()
            other.communicate()


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def f(): ...\n"})
    build(tmp_path)
    database = tmp_path / ".concordance" / "index.db"
    data = bytearray(database.read_bytes())
    data[len(data) // 2] ^= 1
    database.write_bytes(data)
    with pytest.raises(StoreBroken, match=r"1 of .* pages do not match their checksums"):
        Facts(str(database.parent))


def test_a_database_that_vanishes_is_an_error_without_a_traceback(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OSError, match="could not be hashed"):
        page_digests.hash_apart(str(tmp_path / "index.db"))
    assert capfd.readouterr() == ("", "")
