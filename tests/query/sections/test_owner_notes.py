"""The owners and the licence of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import concordance
from concordance.base.blocks import Cite, Ref, To
from concordance.query.index.file_model import model_of
from concordance.query.index.owners import CodeOwners
from concordance.query.sections.licences import licence, stated_licence
from concordance.query.sections.owner_notes import describe_owner
from tests.support import program

RULES = """# comment
*           @all
*.js        @js   # not @more
/build/     @build
docs/*      docs@example.com
apps/       @apps @other
/scripts/**/deep.sh @deep
**/logs     @logs
/a\\ b.txt   @space
/apps/free
[Section]
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("any.txt", ("@all",)),
        ("x/y/a.js", ("@js",)),
        ("build/x/y.c", ("@build",)),
        ("sub/build/x.c", ("@all",)),  # seen from the root
        ("docs/a.md", ("docs@example.com",)),
        ("docs/in/a.md", ("@all",)),  # a star stays in its folder
        ("lib/apps/a.c", ("@apps", "@other")),
        ("scripts/deep.sh", ("@deep",)),
        ("scripts/a/b/deep.sh", ("@deep",)),
        ("x/logs/today.txt", ("@logs",)),
        ("a b.txt", ("@space",)),
        ("apps/free", ()),  # the last that fits names nobody
        ("apps/free/x.c", ()),
    ],
)
def test_the_last_pattern_that_fits_names_the_owners(path: str, owners: tuple[str, ...]) -> None:
    rule = CodeOwners("CODEOWNERS", RULES).rule_of(path)
    assert rule is not None
    assert rule.owners == owners


def test_an_owner_is_given_with_the_line_that_says_so(folder: Path) -> None:
    program.write(folder, {"CODEOWNERS": "# ours\n/a.py @one @two\n", "a.py": "x = 1\n", "b.py": "x = 1\n"})
    with concordance.open(folder) as repository:
        assert describe_owner(repository._index, "a.py") == [
            "@one, @two", " by ", Ref(To.FILE, "CODEOWNERS", "", "CODEOWNERS"), Cite("CODEOWNERS", 2),
        ]  # fmt: skip
        assert describe_owner(repository._index, "b.py") is None


BSD = """/*
 * Redistribution and use in source and binary forms, with or without
 * modification, are permitted provided that the following conditions
"""


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("# SPDX-License-Identifier: Apache-2.0\n", "Apache-2.0", 1),
        ("// SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */\n", "GPL-2.0 WITH Linux-syscall-note", 1),
        ('#\n# Licensed under the Apache License, Version 2.0 (the "License");\n', "Apache-2.0", 2),
        ("/*\n * Permission is hereby granted, free of charge, to any person obtaining a copy\n * of this software and\n", "MIT", 2),
        (BSD, "BSD-2-Clause", 2),
        (BSD + " * may be used to endorse or promote products derived from\n", "BSD-3-Clause", 2),
        ("# under the terms of the GNU Lesser General Public License as published by the Free Software\n"
         "# Foundation; either version 2.1 of the License, or (at your option) any later version.\n", "LGPL-2.1-or-later", 1),
        ("// This source code is licensed under the BSD-style license found in the\n// LICENSE file\n", "BSD-style", 1),
        ("// Use of this source code is governed by a BSD-style\n// license that can be found\n", "BSD-style", 1),
        ("# Released under the MIT License.\n", "MIT", 1),
        (" * Licensed under the New BSD License\n", "New BSD", 1),
        (" * Licensed under a 3-clause BSD style license - see LICENSE.md\n", "3-clause BSD style", 1),
        ("# This Source Code Form is subject to the terms of the Mozilla Public\n# License, v. 2.0.\n", "MPL-2.0", 1),
    ],
)  # fmt: skip
def test_a_header_states_its_licence(text: str, name: str, line: int) -> None:
    found = stated_licence(text)
    assert found is not None
    assert (found.name, found.line) == (name, line)


@pytest.mark.parametrize("text", ["x = 1\n", "# asks for permission\n", "# see the license\n", "# licensed under nothing\n",
                                  "# distributed under the same license as the package\n"])
def test_no_licence_is_made_up(text: str) -> None:
    assert stated_licence(text) is None


def test_the_nearest_licence_file_counts_where_a_header_states_none(folder: Path) -> None:
    files = {"LICENSE": "Ours\n", "a.py": "x = 1\n", "third/COPYING": "Theirs\n", "third/in/b.c": "int x;\n"}
    program.write(folder, files)
    with concordance.open(folder) as repository:
        found = [licence(model_of(repository._index, path)) for path in ("a.py", "third/in/b.c")]
    assert [one and one.path for one in found] == ["LICENSE", "third/COPYING"]
