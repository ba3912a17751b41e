"""The pages of documents: rendered, with working links, images, notes and formulas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from concordance.base.blocks import Block, Cite, Doc, Heading, Picture, Ref, To
from concordance.query.descriptions.document_opening import read_opening
from concordance.query.index.file_model import model_of
from concordance.query.markup.documents.rendered import document_blocks
from concordance.render.author_markdown import doc_to_html
from tests.render.test_injection import EVIL
from tests.support.indexed import make_index


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def shown(blocks: list[Block]) -> str:
    """Render a document as Markdown, with our links as `[label](kind:path#at)`."""
    out = []
    for block in blocks:
        if isinstance(block, Heading):
            out.append(f"{'#' * block.level} {''.join(map(str, block.text))}")
        elif isinstance(block, Doc):
            out.append("".join(_piece(piece) for piece in block.text))
    return "\n\n".join(out)


def _piece(piece: str | Ref | Cite | Picture) -> str:
    if isinstance(piece, Ref):
        return f"[{piece.label}]({piece.to}:{piece.path}{'#' + piece.at if piece.at else ''})"
    if isinstance(piece, Picture):
        return f"![{piece.label}]({piece.path})"
    return piece if isinstance(piece, str) else ""


def document(home: Path, text: str, name: str = "a.md", **more: str) -> str:
    index = make_index(home, {name: text, **{path.replace("__", "."): words for path, words in more.items()}})
    return shown(document_blocks(model_of(index, name)))


def test_headings_stand_below_the_page_title(tmp_path: Path) -> None:
    assert document(tmp_path, "A\n=\ntext\n\n### B `c`\n\nmore\n") == "## A\n\ntext\n\n#### B c\n\nmore"


def test_links_lead_to_pages(tmp_path: Path) -> None:
    text = "See [b](b.md), [its part](b.md#the-part), [here](#here), [web][1], [gone](gone.md).\n\n# Here\n\n[1]: https://e.org\n"
    expected = "See [b](file:b.md), [its part](file:b.md#The part), [here](file:a.md#Here), [web](https://e.org), gone."
    assert document(tmp_path, text, b__md="# B\n\n## The part\n").startswith(expected)


def test_names_of_code_lead_to_definitions(tmp_path: Path) -> None:
    found = document(tmp_path, "Call `tool.work()` or `unknown_thing`.\n", tool__py="def work():\n    pass\n")
    assert found == "Call [tool.work()](symbol:tool.py#work) or `unknown_thing`."


def test_pictures_of_the_repository_are_shown_and_badges_are_not(tmp_path: Path) -> None:
    text = "[![b](https://x/b.svg)](https://x) ![c](https://x/c.svg)\n\n![logo](l.png) and ![far](https://x/f.png)\n"
    index = make_index(tmp_path, {"a.md": text, "l.png": b"\x89PNG\r\n\x1a\n"})
    assert shown(document_blocks(model_of(index, "a.md"))) == "![logo](l.png) and [far](https://x/f.png)"


@pytest.mark.parametrize(
    "text",
    [
        "> [!WARNING]\n> Mind *this*.\n",
        '!!! warning "Warning"\n    Mind *this*.\n',
        "/// warning\n\nMind *this*.\n\n///\n",
        ":::warning\nMind *this*.\n:::\n",
    ],
)
def test_notes(tmp_path: Path, text: str) -> None:
    found = document(tmp_path, f"{text}\nAfter it.\n")
    assert " ".join(found.replace(">", "").split()) == "**Warning:** Mind *this*. After it."
    assert found.startswith("> **Warning:**") and found.endswith("\n\nAfter it.")
    assert '<blockquote class="note careful">' in doc_to_html([found], lambda _: "")


def test_html_becomes_what_it_means(tmp_path: Path) -> None:
    text = (
        '<p align="center"><a href="https://e.org"><b>Home</b></a><br>\n<img src="l.png" alt="logo"></p>\n'
        "<!-- hidden -->\n<script>evil()</script>\n\nA <kbd>key</kbd>, x<sup>2</sup> <a href='b.md'>b</a>.\n"
    )
    index = make_index(tmp_path, {"a.md": text, "l.png": b"\x89PNG\r\n\x1a\n", "b.md": "b\n"})
    found = shown(document_blocks(model_of(index, "a.md")))
    assert found == "[Home](https://e.org)\\\n![logo](l.png)\n\nA key, x2 [b](file:b.md)."


def test_tables_and_code(tmp_path: Path) -> None:
    text = "| a | b |\n|---|--:|\n| `x|y` | [w](https://w) |\n\n    indented\n\n```py\nx = 1\n```\n"
    expected = "| a | b |\n| --- | --- |\n| `x\\|y` | [w](https://w) |\n\n```\nindented\n```\n\n```py\nx = 1\n```"
    assert document(tmp_path, text.replace("x|y", "x\\|y")) == expected


def test_formulas(tmp_path: Path) -> None:
    pytest.importorskip("latex2mathml")
    found = document(tmp_path, "Of $x_1^2 \\le \\alpha$, $5 and $6.\n\n$$\n\\frac{a}{b}\n$$\n")
    assert found.startswith("Of $`x_1^2 \\le \\alpha`$, \\$5 and \\$6.")
    page = doc_to_html([found], lambda _: "")
    assert page.count("<math") == 2 and "<mfrac>" in page and "\\frac" not in page
    assert "$5 and $6" in page


def test_restructured_text(tmp_path: Path) -> None:
    text = (
        "=====\nTitle\n=====\n\nSee :doc:`other` and :doc:`that <other>`, :math:`x^2`.\n\n.. note::\n\n   Mind *it*.\n\n"
        ".. image:: l.png\n   :alt: logo\n\nPart\n----\n\n.. toctree::\n   :maxdepth: 2\n\n   other\n"
    )
    index = make_index(tmp_path, {"a.rst": text, "other.rst": "The Other\n=========\n", "l.png": b"\x89PNG\r\n\x1a\n"})
    assert shown(document_blocks(model_of(index, "a.rst"))) == (
        "## Title\n\nSee [The Other](file:other.rst) and [that](file:other.rst), $`x^2`$.\n\n> **Note:** Mind *it*.\n\n"
        "![logo](l.png)\n\n### Part\n\n- [The Other](file:other.rst)"
    )


def test_references_to_sections_of_other_documents(tmp_path: Path) -> None:
    text = "See :ref:`port-in-use`, :ref:`that <port-in-use>`, :ref:`twice` and :ref:`nowhere`.\n"
    other = ".. _port-in-use:\n\nPort in Use\n===========\n\n.. _twice:\n\nA\n-\n\nWords.\n"
    third = ".. _twice:\n\nB\n=\n"
    index = make_index(tmp_path, {"a.rst": text, "other.rst": other, "third.rst": third})
    link = "(file:other.rst#Port in Use)"
    assert shown(document_blocks(model_of(index, "a.rst"))) == f"See [Port in Use]{link}, [that]{link}, `twice` and `nowhere`."


def test_a_text_file_in_restructured_text(tmp_path: Path) -> None:
    index = make_index(tmp_path, {"a.txt": "Title\n=====\n\n.. note:: Mind it.\n", "b.txt": "Title\n=====\n\nWords.\n"})
    assert [index.language_of(path) for path in ("a.txt", "b.txt")] == ["rst", "text"]


def test_a_notebook(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Some *words*.\n"]},
        {"cell_type": "code", "source": ["x = 1\n"], "outputs": [{"text": "noise"}]},
    ]
    found = document(tmp_path, json.dumps({"cells": cells, "metadata": {}}), "a.ipynb")
    assert found == "## Title\n\nSome *words*.\n\n```python\nx = 1\n```"


def test_each_text_cites_its_lines(tmp_path: Path) -> None:
    index = make_index(tmp_path, {"a.md": "---\ntitle: x\n---\n\none\n\ntwo\n\n# B\n\nthree\n"})
    docs = [block for block in document_blocks(model_of(index, "a.md")) if isinstance(block, Doc)]
    assert [doc.text[0] for doc in docs] == [Cite("a.md", 5, 7), Cite("a.md", 11, 11)]


def test_nothing_in_a_document_becomes_markup_of_the_page(tmp_path: Path) -> None:
    rows = {f"{number}{end}": text for number, text in enumerate(EVIL) for end in (".md", ".rst")}
    index = make_index(tmp_path, {name: f"Start {text} end\n\n{text}\n\n- {text}\n" for name, text in rows.items()})
    for name in rows:
        for block in document_blocks(model_of(index, name)):
            words = "".join(piece for piece in block.text if isinstance(piece, str)) if isinstance(block, Doc) else ""
            tokens = MarkdownIt("commonmark").enable("table").parse(words)
            every = [inner for token in tokens for inner in (token, *(token.children or ()))]
            assert not [token for token in every if token.type in ("html_block", "html_inline", "image")], (name, words)
            targets = [str(token.attrs["href"]) for token in every if token.type == "link_open"]
            assert all(target.startswith(("http:", "https:", "mailto:")) for target in targets), (name, targets)


# --- openings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tool (t)\n--------\ntool finds things.\n\nDual-licensed under MIT.\n", "tool finds things."),
        ("Licensed under the MIT license.\n\nTool finds things.\n", "Tool finds things."),
        ("<p align=center><em>The best tool ever made</em></p>\n\n# T\n\nTool finds things.\n", "Tool finds things."),
        ("<em>The best tool ever made</em>\n", "*The best tool ever made*"),
        ("This README is only a start, more is there.\n\n# What is it?\n\nTool finds things.\n", "Tool finds things."),
        ("**Docs**: [https://e.org](https://e.org)\n\n[English](a.md) | [Chinese](b.md)\n\nTool finds it.\n", "Tool finds it."),
        ("Please consider donating to us today.\n\nTool finds things.\n", "Tool finds things."),
        ("We're excited to announce the release of **Tool 2**!\n\n## Tool\n\nTool finds things.\n", "Tool finds things."),
        (
            "Tool finds things.\n\n[Set it up](#set-up) • [Use it](#use)\n\n## Set up\n\nRun it.\n\n## Use\n\nTry it.\n",
            "Tool finds things.",
        ),
        ("Tool is a [W] tool.\n\n[W]: https://w.org\n", "Tool is a [W](https://w.org) tool."),
        ("# T 2.1\n\n*February 11, 2019*\n\nTool 2.1 finds more.\n", "Tool 2.1 finds more."),
        ("# T\n\nThe best tool for things\n\n## Browser\n\nOpen it in a browser.\n", "The best tool for things"),
        ("# T\n\nThe best tool for things\n\n## What is T?\n\nTool finds things.\n", "Tool finds things."),
        ("# Click\n\nClick is a package for programs.\n\nIt aims at less code.\n", "Click is a package for programs.\n\nIt aims at less code."),
        ("# T\n\nClick here for the docs of it.\n\nTool finds things.\n", "Tool finds things."),
        ("# Only a title\n", None),
        (
            "# T\n\n> T is a tiny tool based on [W](https://w.org)\n\nIt finds things.\n",
            "T is a tiny tool based on [W](https://w.org)\n\nIt finds things.",
        ),
        ("# T\n\n> **Note**: T moved.\n\nTool finds things.\n", "Tool finds things."),
        ("# T\n\n> T is the best tool.\n> — A user\n\nTool finds things.\n", "Tool finds things."),
    ],
)
def test_openings(tmp_path: Path, text: str, expected: str | None) -> None:
    found = read_opening(make_index(tmp_path, {"README.md": text}), "README.md")
    assert (found.text if found else None) == expected


def test_a_ref_is_a_link(tmp_path: Path) -> None:
    index = make_index(tmp_path, {"a.md": "See [b](b.md).\n", "b.md": "B.\n"})
    (block,) = document_blocks(model_of(index, "a.md"))
    assert isinstance(block, Doc) and Ref(To.FILE, "b.md", "", "b", False) in block.text
