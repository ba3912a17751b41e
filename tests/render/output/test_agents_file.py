"""`concord init --agents` writes and refreshes its section of AGENTS.md, and changes nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from concordance.base.errors import UserError
from concordance.render.output import agents_file
from tests.support import books
from tests.support.program import concord, write

MINE = "# Rules of the house\n\n[1]: mine.md\n\nSpeak softly.\n"


def test_a_section_is_written_refreshed_and_stays(tmp_path: Path) -> None:
    root = books.copied(tmp_path)
    file = root / "AGENTS.md"
    file.write_text(MINE)
    concord("init", "--agents", "--yes", root)
    text = file.read_text()
    assert text.startswith(f"{MINE}\n{agents_file.BEGIN}\n")
    assert "Abacus adds up numbers" in text
    assert "pytest tests/test_ledger.py" in text
    links = re.findall(r"\]\(([^)#]+)", text)
    assert links
    rows = [re.findall(r"\]\(([^)]+)\)", row) for row in text.split("\n") if row.startswith("| [")]
    assert rows
    assert not any(row[0] in row[1:] for row in rows)  # a row links to its part once
    assert [link for link in links if not (root / unquote(link)).exists()] == []
    assert re.findall(r"^\[\d+\]:.*", text, re.M) == ["[1]: mine.md"]
    assert "is current" in concord("init", "--agents", "--yes", root).stdout
    assert file.read_text() == text
    file.write_text(text.replace("Abacus adds up", "Somebody else says") + "\nThe end.\n")
    concord("init", "--agents", "--yes", root)
    assert file.read_text() == f"{text}\nThe end.\n"
    assert sorted(path.name for path in root.iterdir() if "AGENTS" in path.name) == ["AGENTS.md"]


def test_a_repository_of_one_module(tmp_path: Path) -> None:
    code = "def main():\n    return count([])\n\n\ndef count(rows):\n    return len(rows)\n"
    write(tmp_path, {"README.md": "# Tally\n\nTally counts rows.\n", "tally.py": code})
    concord("init", "--agents", "--yes", tmp_path)
    assert "The main part is [`tally.py`](tally.py); begin with `main`." in (tmp_path / "AGENTS.md").read_text()


def test_line_ends_and_a_last_line_without_one_are_kept() -> None:
    section = f"{agents_file.BEGIN}\nnew\n{agents_file.END}\n"
    assert agents_file.replace_section(b"a\r\n", section).decode() == "a\r\n\r\n" + section.replace("\n", "\r\n")
    assert agents_file.replace_section(b"a", section).decode() == f"a\n\n{section}"
    old = f"x\n<!-- concordance: begin, by an older version -->\nold\n{agents_file.END}\ny"
    assert agents_file.replace_section(old.encode(), section).decode() == f"x\n{section}y"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{agents_file.BEGIN}\n", "incomplete"),
        (f"{agents_file.END}\n{agents_file.BEGIN}\n", "incomplete"),
        (f"{agents_file.BEGIN}\n{agents_file.END}\n" * 2, r"lines 1, 2, 3, 4"),
        ("\udcff", "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        agents_file.replace_section(text.encode("utf-8", "surrogateescape"), "")


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(MINE)
    (tmp_path / "AGENTS.md").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="link"):
        agents_file.write_section(str(tmp_path), "x\n")
    assert (tmp_path / "elsewhere").read_text() == MINE
