"""The comment that speaks for a file in a language without a reader."""

from __future__ import annotations

import pytest

from concordance.extract.documents.opening_comment import opening_comment

LICENCE = "/*\n * This file is part of Tool.\n *\n * (c) A. Smith\n */\n\n"
HASKELL = "{-# LANGUAGE CPP,\n    DeriveGeneric #-}\n\n{- |\n   Module      : Text.Tool\n   License     : BSD3\n\nThe text of a tool.\n-}\nmodule Text.Tool where\n"


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("php", f"<?php\n\n{LICENCE}namespace A;\nuse B;\n\n/**\n * Sends it all by mail.\n */\n#[X]\nfinal class Mail {{}}\n", "Sends it all by mail."),
        ("php", "<?php\n\nclass A {}\n\n/** Only helps the class above. */\nfunction a() {}\n\n/** Another one of these. */\nfunction b() {}\n", ""),
        ("csharp", "using System;\n\n/// The table of all names.\npublic sealed class Table { }\n", "The table of all names."),
        ("r", "#' Take every second row\n#' @export\nsecond <- function(x) x\n\n#' @rdname second\nthird <- function(x) x\n", "Take every second row\n@export"),
        ("r", "#' Join two tables\nright <- function(x) x\n\n#' Take every row\nleft <- function(x) x\n", "Join two tables"),
        ("ruby", "#!/usr/bin/env ruby\n# Counts the words of a book.\n\nputs 1\n", "Counts the words of a book."),
        ("ruby", "# frozen\nx = 1\n\n# Adds up two numbers.\ndef add(a, b) = a + b\n", ""),
        ("haskell", HASKELL, "The text of a tool."),
        ("lua", "--[[ Reads and writes tables.\n]]\nlocal x = 1\n", ""),
        ("lua", "--[[ Reads and writes tables.\n]]\n\nlocal x = 1\n", "Reads and writes tables."),
        ("tcl", "# Copyright (c) 2020, A. Smith\n# Licensed to everyone.\n\nputs 1\n", ""),
    ],
)  # fmt: skip
def test_opening_comments(language: str, text: str, expected: str) -> None:
    assert opening_comment(text, language) == expected
    assert opening_comment(text.replace("\n", "\r\n"), language) == expected
