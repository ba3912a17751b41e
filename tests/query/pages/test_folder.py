"""The pages of folders: a description of every file and folder, and the sections of a folder's page."""

from __future__ import annotations

from pathlib import Path

import pytest

import concordance
from concordance.base.blocks import (
    Cite,
    Diagram,
    Heading,
    Mono,
    Page,
    Quote,
    Ref,
    Table,
    To,
    format_size,
)
from concordance.query.descriptions.document_opening import read_opening
from concordance.query.descriptions.files import describe
from concordance.query.descriptions.guide_entries import quote_guide_entry
from concordance.query.descriptions.quotations import (
    as_sentence,
    find_lines,
    first_sentence,
    is_statement,
    sentence_pieces,
)
from concordance.query.folders.description import describe_folder
from concordance.query.folders.folder_tree import folders, noun_of, used_definitions_of_folder
from concordance.query.folders.front_page import main_parts
from concordance.query.folders.project_name import name_of
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index
from concordance.query.pages import folder as folder_page
from concordance.query.pages import folder_index
from tests.support.indexed import make_index, plain, sample_index, texts


def line(index: Index, path: str) -> str:
    return plain(describe(index, path))


def sections(page: Page) -> list[str]:
    return [plain(block.text) for block in page.blocks if isinstance(block, Heading) and block.level == 2]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return sample_index(tmp_path_factory.mktemp("sample"))


# --- sentences


@pytest.mark.parametrize(
    ("doc", "said"),
    [
        ("One thing. Another.", "One thing."),
        ("Runs e.g. tests. And more.", "Runs e.g. tests."),
        ("Two\nlines make one.\n\nNext.", "Two lines make one."),
        ("Title\n=====\n\nWhat it is.", "What it is."),
        ('/usr/bin/env python3\nOwner(s): ["me"]\n\nTests of all.', "Tests of all."),
        ("relu(input, inplace=False) -> Tensor\n\nApplies the unit.", "Applies the unit."),
        ("@brief Holds a pointer.", "Holds a pointer."),
        ("See `a. b` there. More.", "See a. b there."),
        ('It holds a "value." And more.', 'It holds a "value."'),
        ("", ""),
    ],
)
def test_first_sentence(doc: str, said: str) -> None:
    assert first_sentence(doc, "python") == said


def test_what_is_no_statement() -> None:
    assert not is_statement("Functional interface")
    assert not is_statement("TODO: do it all anew")
    assert not is_statement("${generated_comment} and more")
    assert not is_statement('import { Type } from "./schemas.js";')
    assert not is_statement("@import { Program, Node } from 'estree'")
    assert not is_statement("|package |version |error |warning")
    assert not is_statement("Essentially, a new implementation of")
    assert not is_statement("Based on the description by Paul Williams at")
    assert not is_statement("Hello and welcome to all")
    assert is_statement("Base class of all modules")


def test_code_in_sentences() -> None:
    pieces = sentence_pieces("Uses :class:`~a.B` and ``c`` of [this](http://x), **now**.")
    assert [str(p) for p in pieces if isinstance(p, Mono)] == ["a.B", "c"]
    assert "".join(map(str, pieces)) == "Uses a.B and c of this, now."


def test_a_quotation_keeps_its_full_stop() -> None:
    assert plain(as_sentence(["“Done.", "”"])) == "“Done.”"
    assert plain(as_sentence(["2 files"])) == "2 files."


# --- files


def test_a_bazel_module_builds_nothing_and_images_are_no_documents(folder: Path) -> None:
    module = 'module(name = "cli")\nbazel_dep(name = "rules_cc", version = "0.1")\n'
    index = make_index(folder, {"MODULE.bazel": module, "doc/logo.svg": "<svg></svg>\n"})
    assert line(index, "MODULE.bazel") == "declares cli and rules_cc"
    assert noun_of(index.files["doc/logo.svg"]) == "image"


def test_the_readme_for_the_host_does_not_describe_its_folder(folder: Path) -> None:
    readme = "# Tool\n\nTool is a multiplexer of terminals.\n"
    index = make_index(folder, {".github/README.md": readme, ".github/funding.yml": "github: them\n", "a/README.md": readme})
    assert plain(describe_folder(index, ".github")) == "1 YAML file and 1 document: README.md and funding.yml"
    assert plain(describe_folder(index, "a")) == "“Tool is a multiplexer of terminals.”"


def test_python_files(folder: Path) -> None:
    index = make_index(folder, {
        "pkg/__init__.py": "from .core import Tree, grow\n",
        "pkg/core.py": 'class Tree:\n    """What grows."""\n\n\nclass Leaf:\n    pass\n\n\ndef grow():\n    return Tree()\n',
        "pkg/says.py": '"""Says what it is for. And more."""\n',
        "pkg/tree_walk.py": 'def tree_walk():\n    """Walks over all of a tree."""\n\n\ndef _inner(): pass\n',
        "pkg/empty/__init__.py": "",
        "whole/__init__.py": "from pkg.core import Tree, grow, Leaf\n\n\nclass Wood:\n    trees = [Tree(), Leaf()]\n    grow()\n",
        "pkg/script.py": "import os\nrows = os.listdir()\n",
        "tests/test_core.py": "from pkg.core import Tree\n\n\nclass TestTree:\n    def test_it(self):\n        assert Tree()\n",
    })  # fmt: skip
    assert line(index, "pkg/says.py") == "“Says what it is for.”"
    assert line(index, "pkg/core.py") == "defines the classes Tree and Leaf, and the function grow"
    assert line(index, "pkg/__init__.py") == "re-exports 2 names of core"
    assert line(index, "whole/__init__.py") == "defines the class Wood; re-exports 3 names of core"
    assert line(index, "pkg/tree_walk.py") == "tree_walk: “Walks over all of a tree.”"
    assert line(index, "pkg/empty/__init__.py") == "empty; makes empty a package"
    assert line(index, "pkg/script.py") == "Python source, 2 lines, imports os"
    assert line(index, "tests/test_core.py") == "1 test of pkg/core.py in TestTree"
    cites = [piece for piece in describe(index, "pkg/tree_walk.py") if isinstance(piece, Cite)]
    assert cites == [Cite("pkg/tree_walk.py", 2)]


def test_an_entry_of_a_list_does_not_describe_its_folder(folder: Path) -> None:
    index = make_index(folder, {
        "scripts/README.md": "# Scripts\n\n* `scripts/install` - Install what is needed.\n* `scripts/check` - Check it.\n",
        "scripts/install": "#!/bin/sh\npip install .\n",
        "scripts/check": "#!/bin/sh\nruff check\n",
    })  # fmt: skip
    assert "Install what is needed" not in plain(describe_folder(index, "scripts"))


def test_rust_modules(folder: Path) -> None:
    index = make_index(folder, {
        "shop/Cargo.toml": '[package]\nname = "shop"\n',
        "shop/src/lib.rs": "pub mod cart;\npub mod till;\npub struct Price;\n",
        "shop/src/cart/mod.rs": "#![doc = include_str!(\"../../docs/cart.md\")]\n\npub struct Cart;\n",
        "shop/docs/cart.md": "What a customer is about to buy.\n\n# More\n",
        "shop/src/till/mod.rs": "use crate::{Price, cart::Cart};\n\nmod drawer;\npub use self::drawer::Drawer;\n",
        "shop/src/till/drawer.rs": "pub struct Drawer;\n",
        "shop/src/till/coin/mod.rs": "mod cent;\npub use self::cent::Cent;\npub struct Coin;\npub struct Note;\n",
        "shop/src/till/coin/cent.rs": "pub struct Cent;\n",
        "shop/src/till/open/mod.rs": "use crate::Price;\n\npub struct Lid(Price);\n",
    })  # fmt: skip
    assert line(index, "shop/src/cart/mod.rs") == "shop/docs/cart.md: “What a customer is about to buy.”"
    assert line(index, "shop/src/till/mod.rs") == "re-exports 1 name of drawer"
    assert line(index, "shop/src/till/coin/mod.rs") == "defines the structs Coin and Note"
    assert line(index, "shop/src/till/open/mod.rs") == "defines the struct Lid"


def test_c_files(folder: Path) -> None:
    index = make_index(folder, {
        "a.h": "#ifndef A_H\n#define A_H\nclass Engine {\n public:\n  int run();\n  int stop();\n};\n#endif\n",
        "a.cpp": '#include "a.h"\nint Engine::run() { return 1; }\nint Engine::stop() { return 0; }\n',
        "b.h": "struct Node;\nint walk(Node* n);\n",
        "c.cpp": '#define QUIET\n#include "a.h"\nint one() { return 1; }\n',
        "stub.cpp": '#include "a.h"\n',
        "os.h": "#define LINE_END 10\nlong now();\nint zone(long when);\n",
        "limits.h": "#define MOST 10\n#define LEAST 1\n",
    })  # fmt: skip
    assert line(index, "os.h") == "declares the functions now and zone"
    assert line(index, "limits.h") == "defines the macros MOST and LEAST"
    assert line(index, "a.h") == "defines the class Engine"
    assert line(index, "a.cpp") == "implements 2 methods of Engine"
    assert line(index, "b.h") == "declares the function walk"
    assert line(index, "c.cpp") == "defines the function one"
    assert line(index, "stub.cpp") == "C++ source, 1 line, includes a.h"


def test_settings_and_builds(folder: Path) -> None:
    index = make_index(folder, {
        ".github/workflows/ci.yml": "name: check\non:\n  push:\njobs:\n  lint:\n    runs-on: x\n  test:\n    runs-on: x\n",
        "action.yml": "name: Set up\ndescription: Sets up all that is needed\n",
        "conf.json": '{"a": 1, "b": {"c": 2}}\n',
        "CMakeLists.txt": "project(tree)\nadd_library(tree a.cpp)\nadd_executable(run main.cpp)\n",
        "a.cpp": "int a;\n",
        "main.cpp": "int main() { return 0; }\n",
        "Makefile": "all:\n\techo\nclean:\n\trm -f x\n",
    })  # fmt: skip
    assert line(index, ".github/workflows/ci.yml") == "workflow check, on push: the jobs lint and test"
    assert line(index, "action.yml") == "“Sets up all that is needed”"
    assert line(index, "conf.json") == "JSON with the keys a and b"
    assert line(index, "CMakeLists.txt") == "builds tree and run"
    assert line(index, "Makefile") == "builds all and clean"
    assert plain(describe_folder(index, ".github/workflows")).startswith("only ci.yml: workflow check")


def test_documents_and_others(folder: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(2000)
    index = make_index(folder, {
        "guide.md": "# The guide\n\nIt tells how the program is used. At length.\n",
        "picture.png": png,
        "words.txt": "oak\nash\n",
        "nothing.txt": "",
    })  # fmt: skip
    (folder / "link.md").symlink_to("guide.md")
    index = concordance.open(str(folder))._index
    assert line(index, "guide.md") == "The guide: “It tells how the program is used.”"
    assert line(index, "picture.png") == "PNG image, 2.0 KB"
    assert line(index, "words.txt").startswith("Plain text, 2 lines")
    assert line(index, "nothing.txt") == "empty file"
    assert line(index, "link.md") == "symbolic link to guide.md"


def test_every_file_of_the_sample_is_described(sample: Index) -> None:
    for path in ledger(sample).files:
        words = line(sample, path)
        assert words and "  " not in words and "[]" not in words, (path, words)


def test_sizes() -> None:
    assert [format_size(n) for n in (1, 20, 1536, 20480, 3 << 20)] == ["1 byte", "20 bytes", "1.5 KB", "20 KB", "3.0 MB"]


# --- folders


def test_what_guides_say_of_paths(folder: Path) -> None:
    index = make_index(folder, {
        "CONTRIBUTING.md": "# Layout\n\n* [core](core) - Files that all the others\n  stand on. More.\n* `web/` - the site of it\n",
        "web/README.md": "# Web\n\n- `core` - not that core at all here\n- `a.js` - shows the first page\n",
        "core/a.py": "x = 1\n", "web/a.js": "let x = 1;\n",
    })  # fmt: skip
    assert plain(quote_guide_entry(index, "core")) == "“Files that all the others stand on.”"
    assert [p for p in quote_guide_entry(index, "core") if isinstance(p, Cite)] == [Cite("CONTRIBUTING.md", 3, 4)]
    assert plain(describe_folder(index, "web")) == "“the site of it”"
    assert line(index, "web/a.js").startswith("“shows the first page”")


def test_folders_by_their_own_words_and_by_facts(folder: Path) -> None:
    index = make_index(folder, {
        "tree/README.md": "# Tree\n\nTo build it, run make.\n",
        "tree/__init__.py": '"""Trees that grow over time."""\n',
        "plain/a.py": "def one(): pass\n", "plain/b.py": "def two(): pass\n",
        "deep/er/c.py": "x = 1\n",
    })  # fmt: skip
    assert plain(describe_folder(index, "tree")) == "“Trees that grow over time.”"
    assert plain(describe_folder(index, "plain")) == "2 Python files: a.py and b.py"
    assert plain(describe_folder(index, "deep")).startswith("only er/c.py: ")


def test_sums_of_folders(sample: Index) -> None:
    every = folders(sample)
    root = every.all[""]
    assert root.count == len(ledger(sample).files)
    for one in every.all.values():
        assert one.count == len(one.files) + sum(every.all[child].count for child in one.folders)
        assert one.count == sum(1 for _ in every.below(one.path))


def test_readme_openings(folder: Path) -> None:
    index = make_index(folder, {
        "README.md": "[![Build](https://b/x.svg)](https://b)\n\n# Tool\n\n<p>badge</p>\n\nTool does two things:\n\n- one\n- two\n\n## More\n\nText.\n",
    })  # fmt: skip
    found = read_opening(index, "README.md")
    assert found is not None
    assert (found.text, found.first, found.last) == ("Tool does two things:\n\n- one\n- two", 7, 10)
    assert name_of(index) == "Tool"


def test_an_opening_ends_at_a_heading_of_an_outline(folder: Path) -> None:
    text = "Welcome to tool!\n\nTool finds things.\n\n* Dependencies\n\nTool needs an engine.\n"
    found = read_opening(make_index(folder, {"README": text}), "README")
    assert found is not None
    assert found.text == "Welcome to tool!\n\nTool finds things."


def test_an_opening_right_below_its_heading(folder: Path) -> None:
    index = make_index(folder, {"README.md": "# A tool\nIt makes other tools of wood.\n\n1. First, take some wood.\n"})
    found = read_opening(index, "README.md")
    assert found is not None
    assert found.text.startswith("It makes other tools of wood.")


def test_lines_of_words_in_other_markup(folder: Path) -> None:
    index = make_index(folder, {"a.rst": "Title\n=====\n\nUses :class:`Tree <a.Tree>` and\nmore of it.\n"})
    assert find_lines(index, "a.rst", "Uses Tree and more of it.") == (4, 5)
    assert find_lines(index, "a.rst", "Not there at all") == (0, 0)


# --- pages


def test_index_pages(sample: Index) -> None:
    assert set(folder_index.subjects(sample)) == set(folders(sample).all)
    (page,) = folder_index.pages(sample, "abacus")
    assert page.ref == Ref(To.INDEX, "abacus")
    assert plain(page.title) == "Index: abacus"
    assert sections(page) == ["Overview", "Files", "Cross-References"]
    table = next(block for block in page.blocks if isinstance(block, Table))
    assert [plain(row[0]) for row in table.rows] == [
        "__init__.py",
        "_native.pyi",
        "ledger.py",
        "py.typed",
        "rounding.py",
    ]


def test_the_roots_index(sample: Index) -> None:
    (page,) = folder_index.pages(sample, "")
    assert sections(page)[:7] == [
        "Overview", "Main Parts", "Core Concepts", "Where to Start", "Building and Testing", "Subfolders", "Languages"
    ]  # fmt: skip
    assert any(isinstance(block, Quote) for block in page.blocks)
    said = "\n".join(texts(page.blocks))
    assert "the book" in said and "README" in said


def test_the_main_parts_of_a_repository(folder: Path) -> None:
    long = "def f{0}():\n    return {0}\n" * 60
    files: dict[str, str | bytes] = {f"src/lib/p{part}/m{n}.py": long.format(n) for part in range(5) for n in range(3)}
    files |= {f"src/test/t{n}.py": long.format(n) for n in range(40)}
    files |= {f"docs/{n}.md": "Words.\n" * 500 for n in range(9)}
    index = make_index(folder, files)
    assert [part.path for part in main_parts(index)] == [f"src/lib/p{part}" for part in range(5)]


def test_the_main_parts_of_a_flat_repository(folder: Path) -> None:
    index = make_index(folder, {f"m{n}.c": f"int f{n}(void) {{ return {n}; }}\n" * 90 for n in range(12)})
    assert [part.path for part in main_parts(index)] == [f"m{n}.c" for n in (0, 1, 10, 11, 2, 3, 4, 5)]


def test_hidden_folders_come_last(folder: Path) -> None:
    index = make_index(folder, {".ci/a.py": "x = 1\n", "b/a.py": "x = 1\n", "a/a.py": "x = 1\n"})
    (page,) = folder_index.pages(index, "")
    table = next(block for block in page.blocks if isinstance(block, Table) and block.columns[0] == "Folder")
    assert [plain(row[0]) for row in table.rows] == ["a", "b", ".ci"]


def test_a_folder_of_very_many_files_is_parted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = make_index(folder, {f"many/f{n}.txt": "x\n" for n in range(7)})
    monkeypatch.setattr(folder_index, "_MAX_FILES", 3)
    found = list(folder_index.pages(index, "many"))
    assert [page.ref.part for page in found] == [1, 2, 3]
    rows = [row for page in found for block in page.blocks if isinstance(block, Table) for row in block.rows]
    assert len(rows) == 7


def test_folder_pages(sample: Index) -> None:
    for subject in folder_page.subjects(sample):
        (page,) = folder_page.pages(sample, subject)
        assert sections(page) == [
            "Role", "Contents Overview", "Key Concepts", "Architecture & Organization", "Important Files",
            "Working with This Folder", "Cross-References",
        ]  # fmt: skip
        for said in texts(page.blocks):
            assert said.strip() and "[…]" not in said and " ," not in said and ".." not in said.replace("../", ""), said


def test_how_parts_depend(folder: Path) -> None:
    index = make_index(folder, {
        "pkg/__init__.py": "", "pkg/low.py": "def base():\n    return 1\n",
        "pkg/high.py": "from pkg.low import base\n\n\ndef top():\n    return base()\n",
        "tests/test_high.py": "from pkg.high import top\n\n\ndef test_top():\n    assert top()\n",
        "pytest.ini": "[pytest]\n", "CODEOWNERS": "pkg/ @trees\n",
    })  # fmt: skip
    (page,) = _folder_page(index, "pkg")
    graph = next(block for block in page.blocks if isinstance(block, Diagram))
    assert ("high.py", "low.py", "") in graph.edges
    said = "\n".join(texts(page.blocks))
    assert "Used by 1 file outside it: tests (1)." in said
    assert "Tests that reach it: tests/test_high.py" in said
    assert "Owned by: @trees by CODEOWNERS" in said


def _folder_page(index: Index, subject: str) -> list[Page]:
    return list(folder_page.pages(index, subject))


def test_most_used_definitions_are_those_of_the_source(folder: Path) -> None:
    uses = '#include "../ring.h"\nint {0}() {{ OPEN return CHECK(close_ring({0})); CLOSE }}\n'
    index = make_index(folder, {
        "lib/ring.h": "#define OPEN {\n#define CLOSE }\n#define CHECK(x) (x)\nint close_ring(int key);\n" + "// \n" * 30,
        "lib/ring.c": '#include "ring.h"\nint close_ring(int key) { return key; }\n',
        "lib/tests/base.h": "int check_it(int key);\n",
        **{f"lib/tests/{one}.c": '#include "base.h"\n' + uses.format(one) + f"int x{one}() {{ return check_it(1); }}\n"
           for one in ("a", "b", "c")},
    })  # fmt: skip
    rows = used_definitions_of_folder(index, folders(index).all["lib"])
    assert list(dict.fromkeys(row.name for row in rows)) == ["CHECK", "close_ring", "CLOSE", "OPEN"]
