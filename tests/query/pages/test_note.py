"""Pages of notes: titled comments, with their text and the places that refer to them."""

from __future__ import annotations

from pathlib import Path

import pytest

import concordance
from concordance.query.pages import note
from concordance.query.sections import citations
from tests.support import books, program

FILES = {
    "core.h": """\
// Note [Why Two Tables]
// ~~~~~~~~~~~~~~~~~~~~~
// One is sorted,
// the other is not.
struct Table {};

/* Note [Order]
 * It ascends.
 */
""",
    "use.py": "def use():\n    return 1  # see Note [Why Two\n    # Tables]\n",
}


@pytest.mark.parametrize(
    ("text", "last", "said"),
    [
        ("# Note [A]\n# one\n#\n# two\nx = 1\n", 4, "one\n\ntwo"),
        ("/* Note [A]\n * ~~~\n * one\n */\nint x;\n", 3, "one"),
        ('"""Note [A]\n\nOne.\n"""\n', 3, "One."),
        ("// Note [A]\n// one\n// Note [B]\n// two\n", 2, "one"),
        ("    # Note [A]\n    # one\n", 2, "one"),
        ("# Note [A]", 1, ""),
    ],
)
def test_the_text_of_a_note_ends_with_its_comment(text: str, last: int, said: str) -> None:
    assert note.note_text(text.split("\n"), 1) == (last, said)


@pytest.mark.parametrize("title", ["x" * 99, "Größe", "../../etc/passwd", "日本語 の 題", "a::b", "CON"])
def test_any_title_is_a_short_plain_name(title: str) -> None:
    found = citations.slug(title)
    assert 0 < len(found) <= 90
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_a_note_has_a_page_with_its_text_and_mentions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "repository"
    program.write(root, FILES)
    books.write(root, root / "out")
    pages = books.pages(root / "out")
    page = pages["book/notes/why-two-tables.md"]
    assert "> One is sorted,\n> the other is not." in page
    assert "use.py_docs.md): [L2]" in page
    assert "[Why Two Tables](why-two-tables.md)" in pages["book/notes/index.md"]
    assert "[Note \\[Why Two Tables\\]](book/notes/why-two-tables.md)" in pages["use.py_docs.md"], "and back"
    assert "[Notes](book/notes/index.md)" in pages["comprehensive_book.md"]
    assert books.problems(root, root / "out") == []


def test_a_repository_without_notes_has_no_such_pages(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("# A note [with brackets]\nx = 1\n")
    with concordance.open(tmp_path) as repository:
        assert note.subjects(repository._index) == []


def test_standards_and_issues_are_listed_with_every_place_that_cites_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "repository"
    program.write(root, {
        "a.py": "def f():\n    return 1  # PEP 484, see #4321\n",
        "b.py": "x = 1  # as of PEP-484 and https://github.com/acme/quite-a-long-name/issues/4321\n",
    })  # fmt: skip
    books.write(root, root / "out")
    pages = books.pages(root / "out")
    page, file = pages["book/notes/index.md"], pages["b.py_docs.md"]
    assert page.index("## Python Enhancement Proposals") < page.index("## Issues")
    assert '- <a id="def-pep-484"></a>**PEP 484**: [`a.py`][1]: [L2][2]; [`b.py`][3]: [L1][4]' in page
    assert "[PEP 484](book/notes/index.md#def-pep-484) [L1]" in file
    anchor = file.partition("[acme/quite-a-long-name#4321](book/notes/index.md#")[2].partition(")")[0]
    assert f'<a id="{anchor}"></a>' in page
