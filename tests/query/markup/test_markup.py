"""Authors' documentation as Markdown: how each convention is converted, where the first sentence ends, and that the
result is safe.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from concordance.base.blocks import Ref, To
from concordance.extract.documents.legal_text import without_licence
from concordance.query.markup import first_sentence, markdown

HOME = Path(__file__).parents[2] / "cases" / "markup"
_FENCE = re.compile(r"^~~~~ (\w+)\n(.*?)\n?^~~~~$", re.M | re.S)
KNOWN = {
    "Tree": "Tree", "forest.Tree": "Tree", "forest.Tree.grow": "Tree.grow", "grow": "Tree.grow", "Tree#grow": "Tree.grow",
    "Tree::grow": "Tree.grow", "plant_tree": "plant_tree", "planting": "planting",
}  # fmt: skip
LANGUAGES = ("python", "cpp", "c", "java", "javascript", "rust", "go", "markdown", "rst", "yaml", "")


def known(name: str) -> Ref | None:
    """The symbols that the cases refer to."""
    return Ref(To.SYMBOL, "forest.py", KNOWN[name]) if name in KNOWN else None


def shown(pieces: tuple[str | Ref, ...]) -> str:
    """Return pieces as one text, with links as `[[key
    label]]`."""
    return "".join(piece if isinstance(piece, str) else f"[[{piece.at}|{piece.label}]]" for piece in pieces)


def cases() -> list[tuple[str, str, str, str]]:
    found = []
    for path in sorted(HOME.glob("*.md")):
        blocks = _FENCE.findall(path.read_text())
        for number in range(0, len(blocks), 2):
            (language, text), (_, expected) = blocks[number : number + 2]
            found.append((f"{path.stem}-{number // 2 + 1}", language, text, expected))
    return found


@pytest.mark.parametrize(("language", "text", "expected"), [c[1:] for c in cases()], ids=[c[0] for c in cases()])
def test_case(language: str, text: str, expected: str) -> None:
    assert shown(markdown(text, language, known)) == expected


# --- safe, whatever is written

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tokens(text: str) -> list[Token]:
    return [one for token in PARSER.parse(text) for one in (token, *(token.children or ()))]


def check(doc: str, language: str) -> None:
    """Check what holds for all converted text."""
    pieces = markdown(doc, language, lambda name: Ref(To.FILE, "x", label="x") if len(name) % 2 else None)
    text = "".join(piece if isinstance(piece, str) else f"[`{piece.label}`](x.md)" for piece in pieces)
    text.encode()
    found = tokens(f"{text}\n\nTHE END\n")
    for token in found:
        assert token.type not in ("html_block", "html_inline", "heading_open", "image", "code_block", "s_open"), (
            doc,
            text,
        )
        if token.type == "link_open":
            address = str(token.attrs["href"])
            assert address == "x.md" or address.startswith(("http://", "https://", "mailto:")), (doc, text)
    blocks = PARSER.parse(f"{text}\n\nTHE END\n")
    assert [blocks[-3].level, blocks[-3].type, blocks[-2].content] == [0, "paragraph_open", "THE END"], (doc, text)
    assert not re.search("[\0\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text), (doc, text)


SNIPPETS = st.sampled_from(
    [
        "<b>",
        "</b>",
        "<!--",
        "-->",
        "<script>",
        "<?",
        "<a@b.cd>",
        "<x:y>",
        "&lt;",
        "&#60;",
        "`",
        "``",
        "```",
        "~~~",
        "~~",
        "*",
        "**",
        "***",
        "_",
        "__",
        "[",
        "]",
        "(",
        ")",
        "](",
        "]:",
        "![",
        "#",
        "##",
        ">",
        ">>>",
        "-",
        "+",
        "1.",
        "1)",
        ":",
        "::",
        "..",
        "..",
        "note::",
        "..",
        "code-block::",
        "..",
        "[1]",
        "..",
        "_a:",
        ":class:`a`",
        ":param",
        "x:",
        "|",
        "|---|",
        "+---+",
        "+===+",
        "===",
        "---",
        "\\",
        "\\*",
        "\\n",
        "@param",
        "@brief",
        "@code",
        "@endcode",
        "\\f$",
        "\\f[",
        "{@link",
        "{@code",
        "}",
        "$",
        "$$",
        "http://",
        "https://a.b",
        "javascript:",
        "mailto:a@b.c",
        "[a](javascript:x)",
        "[a](http://x)",
        "`a",
        "<b>`_",
        "`a`_",
        "a_",
        "[a]_",
        "Args:",
        "Returns:",
        "Note:",
        "Example::",
        "Parameters",
        "a",
        "b",
        "c()",
        "A::b",
        "%X",
        "&struct",
        "Tree",
        "<li>",
        "<pre>",
        "</pre>",
        "<code>",
        "</code>",
        "<p>",
        "\x00",
        "\u202e",
        "�",
        "é",
        "中",
        ".",
        "!",
        "?",
        "/",
        "=",
        '"',
        "'",
    ]
)
SPACES = st.sampled_from((" ", " ", "", "\n", "\n\n", "\n    ", "\n  ", "\n        ", "\t"))
TEXTS = st.lists(st.tuples(SPACES, st.one_of(SNIPPETS, st.sampled_from(("word", "x", "")))), max_size=25).map(
    lambda pairs: "".join(space + text for space, text in pairs)
)


@settings(deadline=None)
@given(st.one_of(TEXTS, st.text(max_size=200)), st.sampled_from(LANGUAGES))
@example("<b>x</b>", "java")
@example("[a]: javascript:x\n\n[a]", "python")
@example("a\n===", "cpp")
@example(":sup:`b>`", "python")
@example("<:sup:`b>`", "python")
@example("- \n    code", "rust")
@example(" \\\t<b>", "python")
@example("`` ` ``\n```\n", "rust")
def test_anything_is_safe(doc: str, language: str) -> None:
    check(doc, language)


@settings(deadline=None)
@given(st.text("ab `*_[]()<>#-+.:|\\&!~$\n1", max_size=60), st.sampled_from(("python", "text", "yaml")))
def test_signs_are_safe(doc: str, language: str) -> None:
    check(doc, language)


def plain(text: str) -> str:
    """Return what a reader sees of some Markdown."""
    found = []
    for token in tokens(text):
        if token.type in ("text", "code_inline", "fence"):
            found.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            found.append(" ")
    return "".join(found)


@pytest.mark.parametrize(
    "text",
    ["*args and **kwargs", "__init__ calls _a_ and a_b_c and x_", "a[i](j) and [i]", "# not a title", "1986. A great year",
     "a | b", "<tag> and a<b> & c &lt; d", "> not a quote", "2 * 3 * 4", "a \\ b \\* c", "~~no~~ ~x~", "cost $5 or $6",
     "-1", "--flag", "!important", "100% of %s", "C:\\dir\\*.txt", "f(x)[0](y)", "a::b", "e.g. *this"],
)  # fmt: skip
def test_what_is_no_markup_is_shown_as_written(text: str) -> None:
    made = shown(markdown(text, "yaml"))
    assert " ".join(plain(made).split()) == " ".join(text.split())
    assert not any(token.type.startswith(("em_", "strong_", "link_", "bullet_", "ordered_")) for token in tokens(made))


def test_no_doc_takes_long() -> None:
    hard = ["`" * 20000, "(" * 50000, "[" * 50000, "*a " * 20000, "a\n" + " b\n" * 20000, "- a\n" * 20000, "<pre>" * 10000,
            "\n".join(" " * n + "a" for n in range(1500)), ":a:" * 20000, "@param x y\n" * 10000, "=== ===\n" * 10000,
            "> " * 20000, "Args:\n" * 10000, "```x\n" * 10000, "| a " * 20000, "_" * 50000, "&a" * 30000, "a.\n\n" * 20000]  # fmt: skip
    for text in hard:
        for language in ("python", "cpp", "rust"):
            begin = time.process_time()
            markdown(text, language)
            first_sentence(text, language)
            assert time.process_time() - begin < 3, (text[:20], language)


# --- the first sentence


@pytest.mark.parametrize(
    ("doc", "language", "expected"),
    [
        ("Adds two numbers. Then more.", "python", "Adds two numbers."),
        ("Uses e.g. trees, i.e. plants vs. stones, cf. Dr. Oak etc. and so on. More.", "python",
         "Uses e.g. trees, i.e. plants vs. stones, cf. Dr. Oak etc. and so on."),
        ("Since version 1.2.3 of the lib. More.", "python", "Since version 1.2.3 of the lib."),
        ("Waits ... and goes on. More.", "python", "Waits ... and goes on."),
        ("See ``a. b`` and :class:`~x.y.Tree`. More.", "python", "See a. b and Tree."),
        ("Does (as said. there) it. More.", "python", "Does (as said. there) it."),
        ("Long line\nthat goes on\n\nAnother.", "python", "Long line that goes on"),
        ("Title\n=====\n\nThe words. More.", "python", "The words."),
        ("=====\nTitle of it\n=====\n", "python", "Title of it"),
        ("Args:\n    x: y", "python", ""),
        ("add(a, b, /) -> Tensor\n\nAdds **all**.", "python", "Adds all."),
        ("add(a,\n    b) -> Tensor", "python", ""),
        (">>> add(1)", "python", ""),
        ("Copyright (c) 2020 Oak. All rights reserved.\n\nLicensed under the MIT License.", "python", ""),
        ("Copyright 2020 Oak\n\nGrows trees.", "python", "Grows trees."),
        ("-*- coding: utf-8 -*-", "python", ""),
        ("vim: set ts=4:", "c", ""),
        ("==========", "c", ""),
        ("TODO: write this", "python", ""),
        ("plant_tree", "python", ""),
        ("plant_tree()", "python", ""),
        ("Plant tree.", "python", ""),
        ("Plant tree. It grows.", "python", "It grows."),
        ("struct oak - a tree that\n@size: how large", "c", "a tree that"),
        ("plant_tree() - puts a tree somewhere", "c", "puts a tree somewhere"),
        ("@size: how large it is", "c", "how large it is"),
        ("\\brief Grows. \\param x y", "cpp", "Grows."),
        ("\\rst\nGrows a *tree*.\n\\endrst", "cpp", "Grows a tree."),
        ("@file oak.h\n@brief All about oaks.\n", "cpp", "All about oaks."),
        ("Returns a {@link Tree#grow grown one}. More.", "java", "Returns a grown one."),
        ("The <b>big</b> <code>Tree</code>.\n<p>More.", "java", "The big Tree."),
        ("|PyPI| |License|\n\nThe words here.", "rst", "The words here."),
        (".. currentmodule:: x\n\nThe words here.", "python", "The words here."),
        ("forest.oaks\n~~~~~~~~~~~\n\nThis module grows oaks.", "python", "This module grows oaks."),
        ("Do it.\n~~~~\nplant()\n~~~~", "python", "Do it."),
        ("linux/oak.h - all about oaks", "c", "all about oaks"),
        ("The `site <http://x.y>`_ of [oaks](http://o.k) [1]_. More", "python", "The site of oaks."),
        ("The following are there:\n\n- a\n- b", "python", "The following are there"),
        ("Grows a tree of a kind\nThe soil and the water are given by\nThe Keeper.", "cpp", "Grows a tree of a kind"),
        ("Draws a tree with dots\nBasic usage:\n    tree = Tree(1)\n    tree.draw()", "python", "Draws a tree with dots"),
        ("Grows what is given by\nThe Keeper of it.", "cpp", "Grows what is given by The Keeper of it."),
        ("trees/oak.h\ntrees/inner/leaf-inl.h", "cpp", ""),
        ("NOTE: [Tree vs. Shrub]\n\nA tree has one trunk.", "cpp", "A tree has one trunk."),
        ("<reference types=\"trees/client\" />", "typescript", ""),
        ("", "python", ""),
        ("森の木。 次の文。", "python", "森の木。"),
    ],
)  # fmt: skip
def test_first_sentence(doc: str, language: str, expected: str) -> None:
    assert first_sentence(doc, language, "plant_tree") == expected


@settings(deadline=None)
@given(st.one_of(TEXTS, st.text(max_size=200)), st.sampled_from(LANGUAGES))
def test_first_sentences_of_anything(doc: str, language: str) -> None:
    sentence = first_sentence(doc, language)
    assert "\n" not in sentence and sentence == sentence.strip() and "\0" not in sentence


APACHE = """Copyright 2020 The Authors

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied."""


def test_licences() -> None:
    assert not without_licence("SPDX-License-Identifier: MIT")
    assert not without_licence("Copyright (c) 2020 Oak <oak@trees.org>")
    assert not without_licence("Copyright (c) Meta Platforms, Inc. and affiliates.\nAll rights reserved.\n\nThis source code is licensed "
                               "under the BSD-style license found in the\nLICENSE file in the root directory of this source tree.")  # fmt: skip
    assert without_licence("Check that every file has a license header.")
    assert without_licence("Grows trees.\n\nMore of it.") == "Grows trees.\n\nMore of it."
    assert "Grows trees." in without_licence(f"{APACHE}\n\nGrows trees.")
    assert not without_licence(APACHE)
