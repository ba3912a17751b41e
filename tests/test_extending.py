"""Other distributions extend the program: one new file in a folder that mirrors ours is a language, a bridge, a rule, a
question or a page. Each example here is such a distribution with nothing but that file, and its effect is looked for in
what users see.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import TREE, ask, build, concord, ledger, sample

REPOSITORY = {
    "app.py": '"""Cooks."""\n\n\ndef cook() -> str:\n    return "TOY-DISH pancake"\n',
    "README.md": "# Kitchen\n\nRecipes, and a program that cooks.\n",
    "batter.recipe": "dish batter\n",
    "cakes.recipe": "use batter.recipe\ndish pancake\ndish waffle\n",
}

LANGUAGE = '''"""Recipes: one dish per line."""

import re

from concordance.base.model import Kind, Language
from concordance.extract.reading.draft import Draft

LANGUAGE = Language("recipe", "Recipe", extensions=(".recipe",))
_LINE = re.compile(rb"(dish|use) (\\S+)")


def read(source):
    draft = Draft(source)
    for match in _LINE.finditer(source.data):
        name = source.slice(*match.span(2))
        if match[1] == b"dish":
            draft.define(Kind.CONSTANT, name, match.start(2), match.start(), match.end())
        else:
            draft.add_import(match.start(2), name)
    return draft
'''

LINKER = '''"""Recipes: another file is used by its path."""

from concordance.link.paths import references

LANGUAGES = ("recipe",)


def imports(tree):
    return lambda path, one: references.resolve_path(tree, path, one.module)
'''

BRIDGE_READER = '''"""Strings of Python that order a dish."""

import re

from concordance.extract.bridges import BridgeEnd

LANGUAGES = ("python",)
WORDS = (b"TOY-DISH",)


def ends(context):
    for match in re.finditer(rb"TOY-DISH (\\w+)", context.data):
        yield BridgeEnd(match.start(1), "orders", match[1].decode())
'''

BRIDGE_JOINER = '''"""Orders, and the recipes of what is ordered."""

from concordance.base.model import Role, Trust

VERBS = {"orders": ("orders", "is ordered by")}


def join(context):
    for one in context.ends("orders"):
        for place in context.symbols_named(one.end.name, ["recipe"]):
            yield one.to(place.id, Trust.UNIQUE_NAME, "ordered by name", role=Role.CALL)
'''

RULE = '''"""TOY-ORDER: a dish that is ordered in a string."""

import re

from concordance.base.model import Severity
from concordance.extract.reading.rule_context import Match

ID = "TOY-ORDER"
TITLE = "Dish ordered in a string"
CATEGORY = "security"
SEVERITY = Severity.WARNING
LANGUAGES = ("python",)
TESTS = True
WORDS = (b"TOY-DISH",)
WHY = "Nobody checks that the kitchen has it."
BAD = "order('TOY-DISH soup')"
GOOD = "order(soup)"


def find(context):
    for match in re.finditer(rb"TOY-DISH", context.data):
        yield Match(*match.span(), "a dish is ordered here")
'''

COMMAND = '''"""`concord longest`: the files of the longest names."""

from concordance.query.answers import paginate

HELP = "List files, those of the longest names first."
ARGUMENT = ""


def answer(index, argument, page):
    paths = sorted((row[1] for row in index.file_rows), key=lambda path: (-len(path), path))
    return paginate([{"path": path, "length": len(path)} for path in paths], ("path", "length"), page)
'''

PAGE = '''"""A page that lists all endings of files."""

from concordance.base.blocks import Item, Items, Mono, Page, Ref

TO = "ending"
LISTED = ("Endings", "every ending of a file's name")


def subjects(index):
    return [""]


def pages(index, subject):
    endings = sorted({row[1].rpartition(".")[2] for row in index.file_rows})
    yield Page(Ref(TO, ""), ["Endings of files"], [Items([Item([Mono(ending)]) for ending in endings])])
'''


SECTION = '''"""Orders: the dishes that a file orders."""

import re

from concordance.base.blocks import Item, Items, Line, Mono

TITLE = "Orders"
ORDER = 45


def blocks(one):
    lines = one.opened.lines() or []
    found = [(line, re.search(r"TOY-DISH (\\w+)", text)) for line, text in enumerate(lines, 1)]
    items = [Item([Mono(match[1]), " by ", Mono("cook"), " ", Line(one.path, line)]) for line, match in found if match]
    return [Items(items)] if items else []
'''


FORMAT = '''"""Pages as plain text: headings, links and citations, one per line."""

from concordance.base.blocks import Heading, Item, Items, Line, Ref
from concordance.collect.own_output import SIGNATURE
from concordance.render.formats import CitedLine, RenderedPage

ENDING = ".txt"


def render(page, addresses):
    here, lines, claims = addresses.page(page.ref), [], []

    def write(blocks):
        for block in blocks:
            for item in block.items if isinstance(block, Items) else [block]:
                for piece in getattr(item, "text", ()):
                    if isinstance(piece, Ref):
                        lines.append(f"to {addresses.link(here, piece)}")
                    elif isinstance(piece, Line):
                        lines.append(f"from line {piece.first}")
                        claims.append(CitedLine(len(lines), piece.path, piece.first, piece.last or piece.first))
                    elif isinstance(block, Heading):
                        lines.append(f"* {piece}")
                write(item.blocks if isinstance(item, Item) else ())

    write([Heading(1, page.title), *page.blocks])
    return RenderedPage("\\n".join([*lines, SIGNATURE, ""]), claims)
'''


class Extension:
    """A repository, and a distribution that is installed for the program alone."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.repository, site = folder / "repository", folder / "site-packages"
        self.repository.mkdir()
        sample(self.repository, REPOSITORY)
        self.package = site / "toy"
        facts = site / "toy-0.1.dist-info"
        for path, text in files.items():
            (self.package / path).parent.mkdir(parents=True, exist_ok=True)
            (self.package / path).write_text(text)
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 0.1\n")
        (facts / "entry_points.txt").write_text("[concordance.plugins]\ntoy = toy\n")
        self.env = {"PYTHONPATH": os.pathsep.join((str(TREE), str(site)))}

    def build(self, *args: str) -> dict[str, Any]:
        return build(self.repository, *args, env=self.env)

    def ask(self, *args: str) -> list[dict[str, Any]]:
        return ask(*args, "--repo", str(self.repository), env=self.env)

    def page(self, path: str) -> str:
        return (self.repository / ".concordance/book" / path).read_text()


LANGUAGE_FILES = {"extract/languages/recipe.py": LANGUAGE, "link/languages/recipe.py": LINKER}
BRIDGE_FILES = {"extract/bridges/orders.py": BRIDGE_READER, "link/bridges/orders.py": BRIDGE_JOINER}


def test_a_language(tmp_path: Path) -> None:
    toy = Extension(tmp_path, LANGUAGE_FILES)
    toy.build()
    assert [(row["name"], row["line"]) for row in toy.ask("symbols", "cakes.recipe")] == [("pancake", 2), ("waffle", 3)]
    assert [row["path"] for row in toy.ask("importers", "batter.recipe")] == ["cakes.recipe"]
    page = toy.page("cakes.recipe_docs.md")
    assert "**Language**: Recipe\n" in page
    assert "**This repository**\n\n- [`batter.recipe`]" in page
    assert "waffle" in toy.page("keywords.md") + "".join(p.read_text() for p in toy.repository.glob(".concordance/book/keywords/*.md"))


def test_a_bridge(tmp_path: Path) -> None:
    toy = Extension(tmp_path, {**LANGUAGE_FILES, **BRIDGE_FILES})
    toy.build()
    assert [row["name"] for row in toy.ask("callees", "cook")] == ["pancake"]
    assert "Orders:\n\n- `pancake` → [`pancake`](cakes.recipe_docs.md#def-pancake) [L5](../../app.py#L5)\n" in toy.page("app.py_docs.md")
    assert "Ordered by:\n" in toy.page("cakes.recipe_docs.md")


def test_a_rule(tmp_path: Path) -> None:
    toy = Extension(tmp_path, {"extract/rules/toy_order.py": RULE})
    toy.build()
    assert "a dish is ordered here" in toy.page("app.py_docs.md")
    assert "Nobody checks that the kitchen has it." in toy.page("book/rules/TOY-ORDER.md")


def test_a_question(tmp_path: Path) -> None:
    toy = Extension(tmp_path, {"query/commands/longest.py": COMMAND})
    assert [row["path"] for row in toy.ask("longest", "--limit", "2")] == ["batter.recipe", "cakes.recipe"]
    assert "longest" in concord("--help", env=toy.env).stdout
    assert "those of the longest names" in concord("longest", "--help", env=toy.env).stdout


def test_a_page(tmp_path: Path) -> None:
    toy = Extension(tmp_path, {"query/pages/ending.py": PAGE})
    toy.build()
    assert "- `recipe`\n" in toy.page("book/endings/index.md")
    assert "[Endings](book/endings/index.md)" in toy.page("comprehensive_book.md")
    concord("verify", "--repo", toy.repository, env=toy.env)
    toy.build("--format", "html")
    site = toy.repository / ".concordance/site"
    assert "<code>recipe</code>" in (site / "book/endings/index.html").read_text()


def test_a_section_of_a_files_page(tmp_path: Path) -> None:
    toy = Extension(tmp_path, {"query/sections/file_page/orders.py": SECTION})
    toy.build()
    page = toy.page("app.py_docs.md")
    assert page.index("\n## Dependencies\n") < page.index("\n## Orders\n\n- `pancake` by `cook` [L5](../../app.py#L5)\n\n") < page.index("\n## Code Patterns")
    assert "- **Orders**: `cook`\n" in toy.page("app.py_kw.md")
    assert "## Orders" not in toy.page("README.md_docs.md")
    concord("verify", "--repo", toy.repository, env=toy.env)
    (toy.repository / "concordance.toml").write_text('[sections]\noff = ["Orders"]\n')
    toy.build()
    assert "Orders" not in toy.page("app.py_docs.md") + toy.page("app.py_kw.md")


def test_an_output_format(tmp_path: Path) -> None:
    """The pages have the same names but for their extensions, and are updated, removed and verified like those in
    Markdown."""
    toy = Extension(tmp_path, {"render/formats/plain.py": FORMAT})
    assert "[markdown|html|plain]" in concord("build", "--help", env=toy.env).stdout
    toy.build()
    summary = toy.build("--format", "plain")
    book, plain = toy.repository / ".concordance/book", toy.repository / ".concordance/book-plain"
    names = {str(path.relative_to(book).with_suffix("")) for path in (*book.rglob("*.md"), book / "llms.txt")}
    assert names == {str(path.relative_to(plain).with_suffix("")) for path in plain.rglob("*.txt")}
    assert not list(plain.rglob("*.md"))
    assert summary["book"]["pages"] == len(names)
    page = (plain / "app.py_docs.txt").read_text()
    assert "\n* File Purpose\n" in page
    assert "\nto app.py_kw.txt\n" in page
    assert "\nfrom line 4\n" in page
    concord("verify", "--repo", toy.repository, "--out", plain, env=toy.env)
    assert toy.build("--format", "plain")["book"]["written"] == 0
    concord("check", "--repo", toy.repository, "--out", plain, env=toy.env)
    (toy.repository / "app.py").unlink()
    (toy.repository / "more.py").write_text("MORE = 1\n")
    toy.build("--format", "plain")
    assert not (plain / "app.py_docs.txt").exists()
    assert (plain / "more.py_docs.txt").exists()
    (plain / "more.py_docs.txt").write_text("changed by hand\n")
    assert "more.py_docs.txt" in concord("verify", "--repo", toy.repository, "--out", plain, env=toy.env, code=1).stdout


def test_a_book_in_another_format_is_not_documented(tmp_path: Path) -> None:
    """Only pages count as such; a file of the repository beside them does not, whatever its name."""
    toy = Extension(tmp_path, {"render/formats/plain.py": FORMAT})
    docs = toy.repository / "docs"
    toy.build("--format", "plain", "--out", str(docs))
    (docs / "notes_docs.txt").write_text("Not a page.\n")
    toy.build("--format", "plain", "--out", str(docs))
    assert [path for path in ledger(toy.repository) if path.startswith("docs/")] == ["docs/notes_docs.txt"]
    assert (docs / "notes_docs.txt").read_text() == "Not a page.\n"
    assert (docs / "docs/notes_docs.txt_docs.txt").exists()


def test_a_changed_plug_in_is_noticed(tmp_path: Path) -> None:
    toy = Extension(tmp_path, LANGUAGE_FILES)
    toy.build()
    (toy.package / "extract/languages/recipe.py").write_text(LANGUAGE.replace("dish|use", "dish|use|meal").replace('== b"dish"', '!= b"use"'))
    (toy.repository / "more.recipe").write_text("meal lunch\n")
    toy.build()
    assert [row["name"] for row in toy.ask("symbols", "more.recipe")] == ["lunch"]


@pytest.mark.parametrize(
    ("path", "text", "part", "protocol"),
    [
        ("extract/languages/recipe.py", LANGUAGE, "read", "LanguageReader"),
        ("link/languages/recipe.py", LINKER, "imports", "ImportLinker"),
        ("extract/bridges/orders.py", BRIDGE_READER, "WORDS", "BridgeReader"),
        ("link/bridges/orders.py", BRIDGE_JOINER, "join", "BridgeJoiner"),
        ("extract/rules/toy_order.py", RULE, "CATEGORY", "RuleModule"),
        ("query/commands/longest.py", COMMAND, "HELP", "QueryCommand"),
        ("query/pages/ending.py", PAGE, "subjects", "PageKind"),
        ("render/formats/plain.py", FORMAT, "ENDING", "PageFormat"),
        ("query/sections/file_page/orders.py", SECTION, "ORDER", "FileSection"),
    ],
)
def test_a_plug_in_that_lacks_a_part(tmp_path: Path, path: str, text: str, part: str, protocol: str) -> None:
    """The message names the plug-in, what it lacks, and where that is described."""
    toy = Extension(tmp_path, {path: text.replace(f"def {part}(", "def other(").replace(f"{part} =", "OTHER =")})
    asked = ("longest", "--repo", toy.repository) if "commands" in path else ("build", toy.repository)
    asked += ("--format", "plain") if "formats" in path else ()
    done = concord(*asked, env=toy.env, code=1)
    folder, _, name = f"{path.removesuffix('.py').replace('/', '.')}".rpartition(".")
    assert f"the plug-in toy.{folder}.{name} lacks {part}. See concordance.{folder}.{protocol}" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("WORDS =", "OTHER =", "has neither NAMES nor WORDS: it would never run. Add one of them"),
        ('CATEGORY = "', 'CATEGORY = "un', "which no page shows. Use one of performance, security"),
    ],
)
def test_a_rule_that_nobody_would_see(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in RULE
    toy = Extension(tmp_path, {"extract/rules/toy_order.py": RULE.replace(old, new)})
    assert said in concord("build", toy.repository, env=toy.env, code=1).stderr


def test_a_plug_in_that_cannot_be_imported(tmp_path: Path) -> None:
    toy = Extension(tmp_path, {"extract/rules/toy_order.py": RULE.replace("concordance.base.model", "concordance.base.gone")})
    done = concord("build", toy.repository, env=toy.env, code=1)
    assert "the plug-in toy.extract.rules.toy_order cannot be imported: ModuleNotFoundError: No module named 'concordance.base.gone'" in done.stderr
