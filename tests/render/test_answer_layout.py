"""Answers on terminals: each result shows its path and line at any width, as a link where that is supported."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from concordance.base.blocks import Diagram, Node
from concordance.query.answers import Answer, Row
from concordance.render.answer_layout import layout
from concordance.render.formats.markdown import mermaid
from concordance.workflow import terminal
from tests.support import program, screens

LONG = "third_party/a_folder_with_a_long_name/another_one/and_the_file_itself.cpp"
ROWS: list[Row] = [
    {"path": LONG, "line": 1203, "col": 21, "called": "outer::Holder::apply", "uses": 3, "text": "x" * 300},
    {"path": LONG, "line": 1204, "col": 1, "called": "", "uses": 0, "text": "漢字" * 100},
    {"path": "a.py", "line": 7, "col": 2, "called": "名前", "uses": 12, "text": "\x1b[31mred"},
]
COLUMNS = ("path", "line", "col", "called", "uses", "text")
ANSWER = Answer(ROWS, COLUMNS, len(ROWS))


@pytest.mark.parametrize("width", [1, 20, *screens.WIDTHS])
def test_places_are_whole_and_come_first(width: int) -> None:
    lines = list(layout(ANSWER, width))
    for row in ROWS:
        place = f"{row['path']}:{row['line']}:{row['col']}"
        assert sum(line.startswith(place) for line in lines) == 1
    assert not any("\x1b" in line for line in lines), "control characters of a source are shown, not sent"


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_nothing_but_a_long_word_is_wider_than_the_terminal(width: int) -> None:
    for line in layout(ANSWER, width):
        cells = sum(2 if one in "漢字名前" else 1 for one in line)
        assert cells <= width or " " not in line.strip()


def test_the_source_is_cut_with_an_ellipsis_or_has_its_own_line() -> None:
    wide, narrow = list(layout(ANSWER, 200)), list(layout(ANSWER, 80))
    assert wide[0].split() == ["path:line:col", "name", "uses", "text"]
    assert wide[1].endswith("xxx…")
    assert narrow[:3] == [f"{LONG}:1203:21", "    outer::Holder::apply  uses 3", "    " + "x" * 75 + "…"]


def test_columns_have_the_same_headings_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_answer(ANSWER, "")
    assert capsys.readouterr().out.splitlines()[0] == "path\tline\tcol\tname\tuses\ttext"


def test_results_of_two_files_are_set_apart() -> None:
    rows: list[Row] = [{**ROWS[0], "path": path, "line": line} for path in (LONG, "b.py") for line in (1, 2, 3)]
    lines = list(layout(Answer(rows, COLUMNS, len(rows)), 60))
    assert lines.count("") == 1
    assert lines[lines.index("") + 1].startswith("b.py:1:21")


def test_files_that_alternate_are_not_separated() -> None:
    rows: list[Row] = [{**ROWS[0], "path": path} for path in (LONG, LONG, "b.py", "b.py", LONG, LONG)]
    assert "" not in layout(Answer(rows, COLUMNS, len(rows)), 60)


def test_places_are_links(tmp_path: Path) -> None:
    first, again = list(layout(ANSWER, 80, colours=True, root=str(tmp_path)))[0:6:3]
    target = f"\x1b]8;;file://{tmp_path}/{LONG}\x1b\\"
    assert first == f"{target}{LONG}:1203:21\x1b]8;;\x1b\\"
    assert again.startswith(f"{target}\x1b[2m{LONG}:1204:1\x1b[0m\x1b]8;;\x1b\\"), "pale: the same file as before"


def test_a_column_without_values_is_left_out() -> None:
    rows = [{**row, "via": []} for row in ROWS]
    assert "via" not in next(layout(Answer(rows, (*COLUMNS, "via"), len(rows)), 200))


def test_reasons_are_wrapped_between_words() -> None:
    row: Row = {"path": "a.py", "line": 1, "why": ", ".join(["changed together 9 times"] * 9)}
    lines = list(layout(Answer([row], ("path", "line", "why"), 1), 60))
    assert lines[0] == "a.py:1"
    assert all(line.startswith("    ") and len(line) <= 60 for line in lines[1:])
    assert " ".join(" ".join(lines[1:]).split()) == row["why"]


def _on_terminal(folder: Path, *question: str, **environment: str) -> str:
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [program.CONCORD, *(question or ("define", "Tree"))], cwd=folder, stdout=theirs, stderr=subprocess.DEVNULL,
        env=program.environment(COLUMNS="80", **environment),
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # which is how a terminal ends
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert running.wait() == 0
    return shown.decode()


def test_links_and_colours_only_where_they_are_understood(repo: Path) -> None:
    shown = _on_terminal(repo, TERM="xterm")
    assert f"\x1b]8;;file://{repo}/a.py\x1b\\a.py:4:7\x1b]8;;" in shown
    assert "\x1b[35mTree\x1b[0m" in shown
    assert "\x1b[" not in _on_terminal(repo, TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in _on_terminal(repo, TERM="dumb")
    assert "\x1b" not in program.concord("define", "Tree", cwd=repo).stdout


def test_a_page_goes_through_a_pager_with_colours_but_without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    paged: list[str] = []
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "echo_via_pager", paged.append)
    for name, value in (("TERM", "xterm-256color"), ("LESS", "")):
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "LESS"):
        monkeypatch.delenv(name, raising=False)
    terminal.print_pages(["# A\n\n[`b`](b.py_docs.md) is *c*.\n"])
    assert os.environ["LESS"] == "-FRX", "as git does; without -R less shows escape sequences as text"
    assert "\x1b[36mb\x1b[0m" in paged[0]
    assert "\x1b]8" not in paged[0]
    assert "b.py_docs.md" not in paged[0]


def test_a_diagram_on_a_terminal_is_a_list_of_its_arrows() -> None:
    nodes = [Node("a", "a/"), Node("b", "__init__.py"), Node("c", "c.py")]
    graph = Diagram(nodes, [("a", "b", "3"), ("a", "c", "3"), ("b", "c", "")])
    shown = terminal.for_terminal(f"x\n\n```mermaid\n{mermaid(graph)}```\n")
    assert shown == "x\n\n- `a/` → `__init__.py` (3), `c.py` (3)\n- `__init__.py` → `c.py`\n\n"


def test_fields_without_headings_say_what_they_are_and_nothing_twice() -> None:
    row: Row = {"path": "a.py", "line": 1, "name": "test_total", "how": "calls", "why": "calls Cart.total",
                "scope": "Cart.add", "trust": "exact", "by": "scope", "run": f"pytest {'x' * 90}"}  # fmt: skip
    columns = ("path", "line", "name", "how", "why", "scope", "trust", "by", "run")
    lines = list(layout(Answer([row], columns, 1), 80))
    assert lines[0] == "a.py:1  test_total  calls Cart.total  in Cart.add  exact  by scope"
    assert lines[1:] == [f"    {row['run']}"], "a command stays whole"


def test_a_page_on_a_terminal_has_no_footer() -> None:
    assert terminal.for_terminal("# A\n\n---\n\n*Generated by Concordance 1*\n") == "# A\n\n\n"


def test_a_terminal_is_told_once_that_there_is_nothing(repo: Path) -> None:
    shown = _on_terminal(repo, "search", "zzzqqq", TERM="xterm")
    assert "none" not in shown


def test_a_terminal_is_told_what_a_batch_waits_for(repo: Path) -> None:
    ours, theirs = os.openpty()
    running = subprocess.Popen(
        [program.CONCORD, "batch"], cwd=repo, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=program.environment(),
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, b"\x04")  # Ctrl-D
    out, err = running.communicate(timeout=60)
    os.close(ours)
    assert b"one JSON object per line" in err and out == b""
