"""Pages and hover cards of definitions: which definitions have one, what it counts, and that every link to one is
valid.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest

from concordance import api
from concordance.base.blocks import Heading, Page, Ref, To
from concordance.base.config import Book
from concordance.facts.read import Facts
from concordance.query.index.definition_pages import has_page, symbols_with_pages
from concordance.query.index.repository import Index
from concordance.query.names.hover_cards import cards
from concordance.query.site_pages import definition
from concordance.render.site.files import Site, open_site
from concordance.workflow import store_update
from tests.support.program import write

SAMPLE = Path(__file__).parents[2] / "sample"
FILES = {
    "tree.py": '''
class Tree:
    """A tree. It grows."""

    def grow(self, by=1):
        """Grows."""
        return by

    def fall(self):
        return self.grow()


class Oak(Tree):
    def grow(self, by=2):
        return super().grow(by)


def unused():
    return Tree()
''',
    "wood.py": '''
from tree import Oak, Tree


class Old(Oak, Missing):
    pass


def plant():
    tree = Tree()
    tree.grow()
    return Oak().grow(3), Old()
''',
    "test_wood.py": "from wood import plant\n\n\ndef test_plant():\n    assert plant()\n",
    "order.py": """
class Root:
    def name(self): return 1

class Left(Root):
    pass

class Right:
    def name(self): return 2
    def other(self): return 3

class Both(Left, Right):
    pass
""",
    "ordered.py": "from order import Both\nBoth().name()\n",
    "pots/pot.go": "package pots\n\ntype Pot struct {\n\tsize int\n}\n\n// Fill fills it.\nfunc (p *Pot) Fill() int { return p.size }\n",
    "pots/lid.go": "package pots\n\n// Close puts the lid on it.\nfunc (p *Pot) Close() int { return p.Fill() }\n",
    "pots/pot_test.go": "package pots\n\nfunc (p *Pot) check() bool { return true }\n\nfunc use(p Pot) { p.Fill() }\n",
    "jugs/src/lib.rs": "mod mug;\npub struct Jug { size: u8 }\nimpl Jug {\n    /// Pours it out.\n    pub fn pour(&self) {}\n}\n",
    "jugs/Cargo.toml": "[package]\nname = \"jugs\"\n",
    "jugs/src/mug.rs": "use crate::Jug;\npub fn empty(jug: &Jug) { jug.pour() }\n",
    "leaf.h": "class Leaf {\n public:\n  int size(int n);\n};\n",
    "leaf.cpp": '#include "leaf.h"\nint Leaf::size(int n) { return n; }\n',
    "main.cpp": '#include "leaf.h"\nint main() { Leaf leaf; return leaf.size(1) + leaf.size(2); }\n',
}


class Made:
    """A repository with its site."""

    def __init__(self, root: Path) -> None:
        store_update.build(str(root))
        self.repository = api.Repository(root, update=False)
        self.index = Index(Facts(str(root / ".concordance")), str(root), Book(source=False, draws_diagrams=True))
        self.site: Site = open_site(self.index, str(root / ".concordance/book"))

    def page(self, subject: str) -> str:
        return self.html(self.site.addresses.page(Ref(To.DEFINITION, *subject.split("#"))))

    def html(self, address: str) -> str:
        found = self.site.answer(address)
        assert found is not None, address
        return found.data.decode()

    def text(self, subject: str) -> str:
        page = self.page(subject)
        main = page[page.index("<main") : page.index("</main>")]
        return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    root = tmp_path_factory.mktemp("defined") / "repo"
    shutil.copytree(SAMPLE, root)
    write(root, FILES)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        return Made(root)


def _titles(page: Page) -> list[str]:
    return ["".join(map(str, block.text)) for block in page.blocks if isinstance(block, Heading)]


def test_who_has_a_page(made: Made) -> None:
    keys = {made.index.open_file("tree.py").symbols[place].key for place in symbols_with_pages(made.index, "tree.py")}
    assert {"Tree", "Tree.grow", "Oak", "Oak.grow"} <= keys
    assert not {"unused", "Tree.fall"} & keys
    assert symbols_with_pages(made.index, "leaf.cpp")  # declared in a header that others use
    for _, path, _, _ in made.index.file_rows:
        paged = symbols_with_pages(made.index, path)
        for place in range(len(made.index.open_file(path).symbols)):
            assert has_page(made.index, made.index.open_file(path).ids.id_at(place)) == (place in paged), (path, place)
    assert made.site.answer("tree.py_defs/def-unused.html") is None
    assert made.site.answer("tree.py_defs/def-nothing.html") is None


def test_a_class_among_its_kin(made: Made) -> None:
    found = definition.part(made.index, "tree.py#Oak", 1)
    assert found is not None
    wanted = ["Bases", "Members", "Methods", "Inherited members", "Examples", "Subclasses", "Callers", "Tests", "Uses"]
    assert [title for title in _titles(found) if title in wanted] == wanted
    said = made.text("tree.py#Oak")
    assert "Tree in tree.py" in said
    assert "from Tree : fall" in said
    assert "1 class directly." in said
    assert "wood.py : Old" in said
    assert "1 test may run it." in said
    tree = made.text("tree.py#Tree")
    assert "A tree. It grows." in tree
    assert "1 class directly, and 1 more below them." in tree


def test_members_come_from_the_class_that_python_takes_them_from(made: Made) -> None:
    said = made.text("order.py#Both")
    assert "from Root : name" in said
    assert "from Right : other" in said
    assert "Left in order.py" in said
    assert "Root , 2 levels above in order.py" in said


def test_members_outside_of_their_type(made: Made) -> None:
    pot = made.text("pots/pot.go#Pot")
    assert "Methods ¶ Name Description Line Fill Fill fills it. L8 Close Close puts the lid on it. lid.go:4 Fields" in pot
    assert "check" not in pot.partition("Examples")[0]
    assert "pour Pours it out. L5" in made.text("jugs/src/lib.rs#Jug")
    assert made.text("leaf.h#Leaf").count("size int size(int n)") == 1


def test_overrides_and_callers(made: Made) -> None:
    under = made.text("tree.py#Tree.grow")
    assert "Overridden by ¶ 1 definition. tree.py : Oak.grow" in under
    assert "Overrides ¶ Tree.grow" in made.text("tree.py#Oak.grow")
    assert "wood.py : plant" in under


def test_what_is_from_elsewhere_is_said(made: Made) -> None:
    (old,) = [symbol for symbol in made.index.open_file("wood.py").symbols if symbol.key == "Old"]
    assert old.bases == ("Oak", "Missing")
    assert "wood.py#Old" not in definition.subjects(made.index)  # only its own file uses it


def test_uses_are_those_of_refs(made: Made) -> None:
    for subject in definition.subjects(made.index):
        total = made.repository.ask("refs", subject).total
        said = made.text(subject)
        found = re.search(r"Uses ¶ ([\d,]+) uses? in", said)
        assert found, (subject, said)
        assert int(found[1].replace(",", "")) == total, subject


def test_callers_and_tests_are_those_of_the_commands(made: Made) -> None:
    for subject in definition.subjects(made.index):
        said = made.text(subject)
        calls = made.repository.ask("callers", subject).total
        found = re.search(r"Callers ¶ ([\d,]+) caller", said)
        assert (int(found[1]) if found else 0) == calls, subject
        tests = made.repository.ask("tests", subject).total
        found = re.search(r"Tests ¶ ([\d,]+) tests? may", said)
        assert (int(found[1]) if found else 0) == tests, subject


def test_declared_and_defined_are_one(made: Made) -> None:
    said = made.text("leaf.cpp#Leaf.size")
    assert "Also declared leaf.h:3" in said
    assert "2 uses in 1 file" in said
    assert "2 uses in 1 file" in made.text("leaf.h#Leaf.size")


def test_cards(made: Made) -> None:
    rows = {card.key: card for card in cards(made.index, "tree.py")}
    tree = rows["Tree"]
    assert (tree.kind, tree.signature, tree.doc, tree.line, tree.page) == ("class", "class Tree", "A tree.", 2, True)
    for key, card in rows.items():
        answer = made.repository.ask("refs", f"tree.py#{key}")
        assert (card.uses, card.files) == (answer.total, len({row["path"] for row in answer.rows})), key
    script = made.html("tree.py_cards.js")
    name, data = json.loads(f"[{script.removeprefix('concordance.take(').removesuffix(');' + chr(10))}]")
    assert name == "cards:tree.py"
    assert data["def-Tree"]["page"].endswith("tree.py_defs/def-Tree.html")
    assert "page" not in data["def-unused"]
    assert "<" not in script


def test_every_link_to_a_definition_leads_somewhere(made: Made) -> None:
    addresses = {made.site.addresses.page(Ref(To.DEFINITION, *one.split("#"))) for one in definition.subjects(made.index)}
    seen = set()
    for meant in made.site.places.all_routes():
        if meant.kind not in ("source", "definition", "file"):
            continue
        for address, answered in made.site.files_of(meant):
            if not address.endswith(".html"):
                continue
            for link in re.findall(r'href="([^"#]*_defs/def-[^"#]*)', answered.data.decode()):
                steps: list[str] = address.split("/")[:-1]
                for step in unquote(link).split("/"):
                    if step == "..":
                        steps.pop()
                    elif step != ".":
                        steps.append(step)
                seen.add("/".join(steps))
    assert seen == addresses  # each is linked from somewhere, too


def test_many_uses_are_on_several_pages(folder: Path) -> None:
    (folder / "a.py").write_text("def f():\n    return 1\n")
    for number in range(12):
        (folder / f"u{number:02}.py").write_text("from a import f\n" + "f()\n" * 100)
    (folder / "hostile.py").write_text("from a import f\nx = '<script>' + f('</script>')\n")
    made = Made(folder)
    pages = list(definition.pages(made.index, "a.py#f"))
    assert len(pages) > 2
    assert [page.ref.part for page in pages] == list(range(1, len(pages) + 1))
    whole = [made.html(made.site.addresses.page(page.ref)) for page in pages]
    assert sum(page.count('_source.html#L') for page in whole) >= 12 * 101
    assert "1,214 uses in 13 files" in whole[0]
    assert "<script>'" not in "".join(whole)
    assert definition.part(made.index, "a.py#f", len(pages) + 1) is None
    assert made.site.answer("a.py_defs/def-f.99.html") is None
