"""The front page: main parts, core concepts, where to start, tests and central files."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.program import build, write


def section(root: Path, title: str) -> str:
    """Build the book, and return a section of its front page; "" if there is none."""
    build(root)
    page = (root / ".concordance" / "book" / "index.md").read_text()
    return f"{page}\n## ".partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def functions(name: str, number: int) -> str:
    return "".join(f"def {name}_{n}():\n    return {n}\n\n\n" for n in range(number))


def test_a_part_with_many_tests_is_a_part_and_scripts_are_not(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/one/run.py": functions("run", 40), "src/two/walk.py": functions("walk", 40),
            "src/two/tests/test_walk.py": functions("test_walk", 400), "scripts/release.py": functions("release", 90),
        },
    )  # fmt: skip
    parts = section(tmp_path, "Main Parts")
    assert "The following parts are all in [`src`]" in parts
    assert "| [`one`]" in parts and "| [`two`]" in parts and "scripts" not in parts


def test_concepts_are_public_and_types_stand_in_for_what_nobody_explains(tmp_path: Path) -> None:
    types = "".join(f"type Part{n} struct {{ size int }}\n\n" for n in range(3))
    users = "func use{n}(a Part0, b Part1) int {{ return a.size + b.size + helper() }}\n"
    write(
        tmp_path,
        {"parts.go": f"package parts\n\n{types}// helper helps the other files a lot.\nfunc helper() int {{ return 1 }}\n",
         **{f"use{n}.go": f"package parts\n\n{users.format(n=n)}" for n in range(3)}},
    )  # fmt: skip
    concepts = section(tmp_path, "Core Concepts")
    assert re.search(r"- \[`Part0`\]\S+: struct in \[`parts.go`\]\S+ Used by 3 files", concepts)
    assert "helper" not in concepts


def test_a_sentence_of_a_concept_ends_before_the_next(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"core.js": "/** Joins two parts */\nexport class Joint {}\n/** Cuts a part in two. */\nexport class Cut {}\n",
         **{f"use{n}.js": "import { Joint, Cut } from './core.js';\nnew Joint(new Cut());\n" for n in range(3)}},
    )  # fmt: skip
    concepts = section(tmp_path, "Core Concepts")
    assert "“Joins two parts”. Used by 3 files." in re.sub(r"<!--.*?-->|\[\d+\]", "", concepts)
    assert "“Cuts a part in two.” Used by 3 files." in re.sub(r"<!--.*?-->|\[\d+\]", "", concepts)


def test_the_types_of_a_program_are_its_concepts_though_hardly_any_is_public(tmp_path: Path) -> None:
    names = [f"Part{n}" for n in range(12)]
    kinds = "".join(f"/// A part, number {n}.\npub(crate) struct {name} {{ size: u8 }}\n" for n, name in enumerate(names))
    fields = ", ".join(f"p{n}: {name}" for n, name in enumerate(names))
    test = "#[cfg(test)]\nmod tests {\n  fn check() {}\n  #[test]\n  fn adds() { check() }\n}\n"
    user = f"use crate::parts::*;\nfn use_them({fields}, a: Arguments) {{}}\n"
    write(
        tmp_path,
        {"Cargo.toml": '[package]\nname = "tool"\n', "src/main.rs": "mod parts;\nmod one;\nmod two;\nmod three;\n",
         "src/parts.rs": f"{kinds}/// What was asked.\npub struct Arguments {{ size: u8 }}\n{test}",
         "src/one.rs": user, "src/two.rs": f"{user}use crate::three::Way;\nfn go(way: Way) {{}}\n",
         "src/three.rs": f"{user}pub const LIMIT: u8 = 1;\npub(crate) enum Way {{ Up }}\n"
         "impl Default for Way { fn default() -> Way { Way::Up } }\n"},
    )  # fmt: skip
    concepts = section(tmp_path, "Core Concepts")
    assert "[`Part0`]" in concepts and "[`Part4`]" in concepts
    described = (tmp_path / ".concordance" / "book" / "src" / "index.md").read_text()
    assert "check" not in described, "it is there for the tests"
    assert "the enum `Way`" in described, "it is used, if not public"


def test_errors_are_no_concepts_where_there_are_others(tmp_path: Path) -> None:
    names = ("Session", "Request", "Answer", "TooLateError")
    kinds = "".join(f'class {name}:\n    """A forest {name.lower()}."""\n\n\n' for name in names)
    send = 'def send():\n    """Send all that is there."""\n'
    names = (*names, "send")
    uses = f"from forest import {', '.join(names)}\n\nprint({', '.join(f'{name}()' for name in names)})\n"
    write(tmp_path, {"forest.py": f"{kinds}{send}", **{f"use{n}.py": uses for n in range(3)}})
    concepts = section(tmp_path, "Core Concepts")
    assert re.findall(r"^- \[`(\w+)`\]", concepts, re.M) == ["Answer", "Request", "Session", "send"]
    assert "“A forest session.”" in concepts


def test_the_documentation_begins_with_its_guide_in_english(tmp_path: Path) -> None:
    page = "# Guide\n\nHow to use this tool for everything that you need.\n"
    paths = ("docs/de/index.md", "docs/en/index.md", "docs/en/x/index.md", "site/content/parts/_index.md",
             "site/content/user_guide.md", "revdep/README.md")  # fmt: skip
    write(tmp_path, {"run.py": functions("run", 2), **dict.fromkeys(paths, page)})
    start = section(tmp_path, "Where to Start")
    assert "the documentation in docs](docs/en/index.md_docs.md)" in start and "revdep" not in start
    assert "the documentation in site](site/content/user_guide.md_docs.md)" in start


def test_test_files_are_counted_where_tests_have_no_names(tmp_path: Path) -> None:
    tests = 'import { add } from "./add";\ntest("adds", () => { expect(add(1, 2)).toBe(3); });\n'
    write(
        tmp_path,
        {"package.json": '{"name": "tool", "scripts": {"test": "vitest run"}}\n', "add.test.ts": tests,
         "add.ts": "export function add(a: number, b: number) { return a + b; }\n"},
    )  # fmt: skip
    testing = section(tmp_path, "Building and Testing")
    assert "**Test**: 1 test file; to run them:" in testing and "npm test" in testing
    write(tmp_path, {"package.json": '{"name": "tool", "devDependencies": {"vitest": "1"}}\n'})
    testing = section(tmp_path, "Building and Testing")
    assert "**Test**: 1 test file; to run some of them:" in testing and "npx vitest run add.test.ts" in testing
    assert "and 1 test file." in section(tmp_path, "Overview")


def test_a_readme_is_not_named_by_the_heading_of_a_later_section(tmp_path: Path) -> None:
    readme = '<h2 align="center">The Tool</h2>\n\n_Tool_ counts the words of a text.\n\n## Installation\n\nRun `make`.\n'
    simple = "\n## A Simple Example\n\n    tool a.txt\n"
    write(tmp_path, {"README.md": f"{readme}{simple}", "tool.py": functions("count", 3)})
    files = section(tmp_path, "Files")
    assert "“Tool counts the words of a text.”" in files and "[Installation]" not in files
    assert "- **Use**: [A Simple Example]" in section(tmp_path, "Building and Testing")


def test_documents_that_every_project_has_are_named_by_what_they_are(tmp_path: Path) -> None:
    changes = "## 2.0.0\n\n* Removes what was old and unused.\n\n## 1.1.0\n\n* Adds.\n\n## 1.0.0\n\n* First.\n"
    licence = "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\n"
    readme = (
        "<h3>Gold sponsors</h3>\n<p>Buy our services for your company.</p>\n\n"
        "# Tool [![Build](https://x.org/b.svg)](https://x.org)\n\n## Tool 2 is out\n\nWe're excited to announce the "
        "release of Tool 2.\n\n---\n\nTool counts the words of a text.\n\n## Usage\n\nRun it.\n\n## Usage\n\nAgain.\n"
    )
    write(tmp_path, {"CHANGELOG.md": changes, "LICENSE": licence, "README.md": readme, "lib/run.rb": "def run; end\n",
                     "test/run_test.rb": "def test_run; end\n"})  # fmt: skip
    listed = section(tmp_path, "Files")
    assert "list of changes, 3 entries: [2.0.0]" in listed and "text of the MIT licence" in listed
    assert "[Tool]" in listed and "“Tool counts the words of a text.”" in listed
    assert "> Tool counts the words" in section(tmp_path, "Overview")
    testing = section(tmp_path, "Building and Testing")
    assert "**Test**: [`test`]" in testing and testing.count("[Usage]") == 1


def test_central_files_are_used_and_no_documents(tmp_path: Path) -> None:
    pages = {f"docs/{n}.md": f"# Page {n}\n\nSee [the next](next.md).\n" + "Words.\n\n" * 200 for n in range(4)}
    write(tmp_path, {"a.py": "from b import run\n", "b.py": functions("run", 2), "docs/next.md": "# Next\n", **pages})
    rows = section(tmp_path, "Most Central Files").splitlines()
    assert [row for row in rows if row.startswith("| [")] == [row for row in rows if row.startswith("| [`b.py`]")]


def test_a_repository_in_a_language_that_is_not_analysed_has_no_ranks(tmp_path: Path) -> None:
    write(tmp_path, {f"lib/{n}/{n}.php": "<?php\nfunction run() { return 1; }\n" * 9 for n in ("one", "two")})
    assert section(tmp_path, "Most Central Files") == ""
    parts = section(tmp_path, "Main Parts")
    assert "| [`one`]" in parts and all(row.endswith("|  |") for row in parts.splitlines()[-2:] if row)


def test_files_without_definitions_are_no_parts(tmp_path: Path) -> None:
    code = "".join(f"def run_{n}():\n    return {n}\n\n\n" for n in range(40))
    data = "TABLE = [\n" + "    1,\n" * 3000 + "]\n"
    write(tmp_path, {"README.md": "# Tool\n\nTool finds things.\n", "src/run.py": code, "src/walk.py": code, "profile/huge.py": data})
    build(tmp_path)
    page = (tmp_path / ".concordance" / "book" / "index.md").read_text()
    parts = page.split("## Main Parts")[1].split("\n## ")[0]
    assert "src" in parts and "huge" not in parts and "profile" not in parts


def test_the_definition_to_begin_with_is_public_and_no_end_of_something(tmp_path: Path) -> None:
    names = ("tree_free", "TreeError", "_Hidden", "tree_new")
    code = "def tree_free(): ...\n\n\nclass TreeError(Exception): ...\n\n\nclass _Hidden: ...\n\n\ndef tree_new():\n"
    uses = f"from {{}} import {', '.join(names)}\n\nprint({', '.join(f'{name}()' for name in names)})\n"
    write(
        tmp_path,
        {"tree.py": f'{code}    """Make a tree."""\n', "run.py": functions("run", 9) + "def main():\n    run_1()\n",
         **{f"use{n}.py": uses.format("tree") for n in range(3)}},
    )  # fmt: skip
    parts = section(tmp_path, "Main Parts")
    assert re.search(r"^\| \[`tree.py`\].* \| \[`tree_new`\]\S* \|$", parts, re.M)
    assert re.search(r"^\| \[`run.py`\].* \| \[`main`\]\S* \|$", parts, re.M)


def test_parts_serve_users_and_internal_ones_come_last(tmp_path: Path) -> None:
    inside = '"""Internal: do not import this."""\n\n'
    names = ("one", "two", "three", "four")
    write(
        tmp_path,
        {"lib/depths.py": inside + functions("depth", 60), **{f"lib/{name}.py": functions(name, 40) for name in names},
         "website/pages.js": "export function page() {}\n" * 900, ".yarn/tool.js": "export function tool() {}\n" * 900,
         "typing_tests/check.py": functions("check", 90), "docs_src/a.py": functions("show", 90), "a.config.js": "export function x() {}\n" * 90},
    )  # fmt: skip
    parts = re.findall(r"^\| \[`([^`]+)`\]", section(tmp_path, "Main Parts"), re.M)
    assert sorted(parts[:-1]) == ["four.py", "one.py", "three.py", "two.py"] and parts[-1] == "depths.py"


def test_headings_of_one_case_are_no_topics_and_tests_are_named_even_if_not_counted(tmp_path: Path) -> None:
    headings = ("Usage", "Example: reading a version from a file", "Getting started with contributing", "Compile time")
    readme = "# tool\n\nA tool that does it.\n" + "".join(f"\n## {one}\n\nSome words.\n" for one in headings)
    write(tmp_path, {"README.md": readme, "tool.gemspec": "", "lib/a.rb": "x = 1\n", "test/a_test.rb": "y = 1\n"})
    building = section(tmp_path, "Building and Testing")
    assert re.findall(r"^- \*\*(\w+)\*\*: (.*?)\]", building, re.M) == [
        ("Use", "[Usage"), ("Build", "[`tool.gemspec`"), ("Test", "[`test`"),
    ]  # fmt: skip
    assert "Example" not in building and "contributing" not in building and "Compile" not in building


def test_a_repository_without_files(tmp_path: Path) -> None:
    assert section(tmp_path, "Overview").strip() == "The repository has no files."


def test_objects_with_methods_stand_for_classes(tmp_path: Path) -> None:
    send = "".join(f"res.send{n} = function (body) {{ return this }}\n" for n in range(3))
    code = f"var resolve = 1\nvar res = Object.create(null)\nmodule.exports = res\n{send}\nfunction pad() {{}}\n"
    write(tmp_path, {"lib/response.js": code, "lib/b.js": "export function b() {}\n"})
    assert "defines the object [`res`]" in section(tmp_path, "Main Parts")


def test_images_are_counted_as_images_wherever_they_are(tmp_path: Path) -> None:
    picture = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    write(tmp_path, {"shop.py": "A = 1\n"})
    for name in ("dark", "light"):
        path = tmp_path / ".github" / "images" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture)
    assert "| 2 images" in section(tmp_path, "Subfolders")


def test_what_users_build_and_what_a_picture_shows_is_left_out(tmp_path: Path) -> None:
    readme = "# Shop\n\nA shop that sells tea.\n\n**Demo**: Buying tea, and\nleaving:\n\n![tea](tea.png)\n\n"
    write(tmp_path, {"README.md": f"{readme}## Build Your Own Applications\n\nBuy.\n", "shop.go": "package shop\n",
                     "go.mod": "module shop\n"})  # fmt: skip
    assert "Build Your Own" not in section(tmp_path, "Building and Testing")
    overview = section(tmp_path, "Overview")
    assert "sells tea" in overview and "Demo" not in overview


def test_a_slogan_does_not_say_how_to_test(tmp_path: Path) -> None:
    readme = "# Tool\n\nTool counts words.\n\n## Testing Made Simple\n\nTests are simple.\n\n## Testing\n\nRun `make`.\n"
    write(tmp_path, {"README.md": readme, "tool.py": functions("count", 3)})
    building = section(tmp_path, "Building and Testing")
    assert "[Testing]" in building and "Made Simple" not in building


def test_what_a_tool_wrote_has_no_concepts(tmp_path: Path) -> None:
    lock = '{"packages": {"node_modules/@adobe/css-tools": {"css-tools": "1"}, "node_modules/css-tools": {}}}\n'
    write(tmp_path, {"package-lock.json": lock, "a.md": "# Teapots\n\nTeapots are teapots.\n"})
    build(tmp_path)
    pages = "".join(page.read_text() for page in (tmp_path / ".concordance/book/keywords").glob("*.md"))
    assert "**teapot**" in pages and "**css" not in pages and "**adobe" not in pages


def test_the_tests_of_every_go_module_are_run(tmp_path: Path) -> None:
    tests = "package shop\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {}\n"
    write(tmp_path, {"go.mod": "module example.org/shop\n", "shop_test.go": tests,
                     "extra/go.mod": "module example.org/shop/extra\n", "extra/more_test.go": tests})  # fmt: skip
    building = section(tmp_path, "Building and Testing")
    assert "to run them:\n\n```bash\ngo test ./...\ngo -C extra test ./...\n```" in building


def test_a_heading_about_build_files_does_not_tell_how_to_build(tmp_path: Path) -> None:
    readme = "# Shop\n\nShop is a shop.\n\n## BUILD and `*.bzl` files\n\nLoad them.\n\n## Building\n\nRun make.\n"
    write(tmp_path, {"README.md": readme, "Makefile": "all:\n\ttrue\n"})
    building = section(tmp_path, "Building and Testing")
    assert "[Building]" in building and "bzl" not in building


def test_the_overview_says_that_the_language_of_most_lines_is_not_analysed(tmp_path: Path) -> None:
    write(tmp_path, {"a.rb": "class A\nend\n" * 9, "b.py": "def b():\n    return 1\n"})
    overview = section(tmp_path, "Overview")
    assert "Ruby is recognised but not analysed." in overview and "1 definition" in overview
    write(tmp_path, {"c.py": "def c():\n    return 1\n\n\n" * 20})
    assert "not analysed" not in section(tmp_path, "Overview")


def test_a_folder_is_described_by_the_first_paragraph_of_its_readme_that_says_what_it_is(tmp_path: Path) -> None:
    """Not by a bar of links, a byline, the state of development, or a comment in the package."""
    bar = "[**Why?**](#why)\n| [**Install**](#install)\n| [**Plans**](#plans)\n\n"
    state = "**This library is currently under heavy development - if you have ideas, please open an issue.**\n\n"
    comment = "import os\n\n# Public names of this package, in the order of the alphabet, as users import them.\n\nx = os\n"
    write(
        tmp_path,
        {
            "maps/README.md": f"# maps\n\n{bar}{state}`maps` draws maps of a repository.\n\n## Why\n\nBecause.\n",
            "maps/__init__.py": comment,
            "dim/README.md": "Named dimensions\n=====\n\n-- Jane Doe [@jane](https://example.org/jane)\n\nDimensions have names here.\n",
            "dim/__init__.py": comment,
        },
    )  # fmt: skip
    table = section(tmp_path, "Subfolders")
    assert "| “maps draws maps of a repository.” |" in table
    assert "| “Dimensions have names here.” |" in table
