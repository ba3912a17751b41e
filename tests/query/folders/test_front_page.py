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
    assert "**Test**: 1 test file; to run some of them:" in testing and "npx vitest run add.test.ts" in testing
    assert "and 1 test file." in section(tmp_path, "Overview")


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
