"""Languages that are recognised but not analysed: what pages and answers say about their files."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from concordance.base.config import Book
from concordance.extract.text.highlight import highlight_spans
from concordance.workflow import builds
from tests.support import program
from tests.support.program import concord

FILES = {
    "src/Logger.php": '<?php\nnamespace App;\n\nuse App\\Handler;\n\n/** Writes records. */\nclass Logger {\n    public function add(string $text): int { return strlen($text) + 1; }\n}\n',
    "tests/LoggerTest.php": "<?php\nclass LoggerTest { public function testAdd() { (new Logger())->add('x'); } }\n",
    "R/shape.R": "library(stats)\nshape <- function(x) sd(x)  # how wide\n",
    "lua/json.lua": 'local util = require "util"\nlocal function decode(text) return util.read(text) end\nreturn decode\n',
    "tool.py": "import os\n\n\ndef main():\n    os.getpid()\n",
    "README.md": "# Logger\n\nWrites logs.\n",
}  # fmt: skip
CLAIMS = re.compile(r"without definitions|[Nn]o definitions|[Nn]othing defines|No imports|No executable code|no functions|No patterns|No usage example")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unread")
    program.sample(folder, FILES)
    builds.write_book(str(folder), None, Book(), 1)
    return folder


@pytest.mark.parametrize(("path", "title"), [("src/Logger.php", "PHP"), ("R/shape.R", "R"), ("lua/json.lua", "Lua")])
def test_a_page_says_once_that_its_language_is_not_analysed(made: Path, path: str, title: str) -> None:
    page = (made / ".concordance" / "book" / f"{path}_docs.md").read_text()
    assert page.count(f"{title} is recognised but not analysed.") == 1
    assert f"**Language**: {title}\n" in page
    assert not CLAIMS.search(page)
    for other in (f"{path}_kw.md", "src/doc.md", "src/index.md", "src/sub.md", "R/doc.md"):
        assert not CLAIMS.search((made / ".concordance" / "book" / other).read_text())


def test_the_table_of_languages_has_all(made: Path) -> None:
    front = (made / ".concordance" / "book" / "index.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| \d+ \| \d+ \| [^|]+ % \|$", front, re.M)
    unread = " (recognised, not analysed)"
    assert rows == [f"PHP{unread}", "Python", f"Lua{unread}", "Markdown", f"R{unread}"]


@pytest.mark.parametrize("command", ["symbols", "imports", "importers"])
def test_an_answer_about_such_a_file(made: Path, command: str) -> None:
    done = concord(command, "src/Logger.php", "--no-update", cwd=made)
    assert done.stdout == "none\n"
    assert done.stderr == "PHP is recognised but not analysed.\n"


def test_the_tests_of_such_a_file(made: Path) -> None:
    done = concord("tests", "src/Logger.php", "--no-update", cwd=made)
    assert "tests/LoggerTest.php\t1\t\tsame_name\thas the same name" in done.stdout
    assert done.stderr == "PHP is recognised but not analysed.\n"


def test_a_name_that_such_a_file_may_define(made: Path) -> None:
    unread = "PHP, Lua and R are recognised but not analysed"
    assert f"definitions searched; {unread}" in concord("define", "add", "--no-update", cwd=made, code=2).stderr
    for command in ("refs", "callers"):
        assert concord(command, "tool.main", "--no-update", cwd=made).stderr.endswith(f"; {unread}\n")
    assert unread in concord("impact", "src/Logger.php", "--no-update", cwd=made).stderr


@pytest.mark.parametrize(
    ("path", "language", "found"),
    [
        ("src/Logger.php", "php", {"c": "/** Writes records. */", "k": "class", "n": "1"}),
        ("R/shape.R", "r", {"c": "# how wide", "k": "function"}),
        ("lua/json.lua", "lua", {"s": '"util"', "k": "local"}),
    ],
)
def test_it_is_highlighted_all_the_same(path: str, language: str, found: dict[str, str]) -> None:
    text = FILES[path]
    spans = highlight_spans(text, language)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    for kind, word in found.items():
        assert word in {text[start:end].strip() for start, end, mark in spans if mark == kind}
