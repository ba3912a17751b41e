"""Keyword pages: of files, of folders with their subfolders, and of the whole repository from A to Z."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import concordance
from concordance.base.blocks import Block, Cite, Heading, Items, Line, Page, Piece, Quote, Ref, Table, Text, To
from concordance.base.model import Kind
from concordance.facts.updates.delta import round_to_power
from concordance.query.index.repository import Index
from concordance.query.names import file_keywords
from concordance.query.names.file_keywords import GROUPS
from concordance.query.names.shards import DIGITS, OTHER, PAGE_BYTES, Shards, by_letter, letter_of
from concordance.query.pages import keywords, letters, subtree

SAMPLE = Path(__file__).parents[2] / "sample"
TREE = '''"""Trees that grow. A Growing Tree Node (GTN) has a height."""
from enum import Enum
import os as system


class Tree:
    """A GTN."""

    height = 1

    def grow(self) -> int:
        """Grows."""
        self.height += self.step()
        return system.getpid()

    def step(self) -> int:
        return 1


class Bush(Tree):
    def step(self) -> int:
        return 2


def _seed() -> Tree:
    return Tree()


def plant() -> Tree:
    """See `forest_of_trees`."""
    return _seed()
'''


def made(folder: Path, files: dict[str, str | bytes]) -> Index:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return concordance.open(folder)._index


@pytest.fixture
def trees(folder: Path) -> Index:
    return made(
        folder,
        {
            "lib/tree.py": TREE,
            "lib/wood.py": "from lib.tree import Tree, plant\n\n\ndef wood() -> list[Tree]:\n    return [plant(), plant()]\n",
            "tests/test_tree.py": "from lib.tree import plant\n\n\ndef test_plant() -> None:\n    assert plant().grow()\n",
            "lib/empty.py": "",
            "logo.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
            "README.md": "# Woods\n\nUse `plant` and `class`.\n\n```python\nfrom lib.tree import Tree, Enum\n\n# The For\nt = Tree()\n```\n",
        },
    )


# --- reading pages


def shown(pieces: Iterable[Piece]) -> str:
    found = []
    for piece in pieces:
        if isinstance(piece, Ref):
            found.append(piece.label or piece.path)
        elif isinstance(piece, Line):
            found.append(f"L{piece.first}")
        elif not isinstance(piece, Cite):
            found.append(piece)
    return "".join(found)


def lines(blocks: Iterable[Block], indent: str = "") -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Heading):
            yield "#" * block.level + " " + shown(block.text)
        elif isinstance(block, Text):
            yield indent + shown(block.text)
        elif isinstance(block, Items):
            for item in block.items:
                yield f"{indent}- {shown(item.text)}"
                yield from lines(item.blocks, indent + "  ")
        elif isinstance(block, Table):
            yield from (" | ".join(map(shown, row)) for row in block.rows)
        elif isinstance(block, Quote):
            yield from lines(block.blocks, indent)


def pieces(blocks: Iterable[Block]) -> Iterator[Piece]:
    for block in blocks:
        if isinstance(block, Heading | Text):
            yield from block.text
        elif isinstance(block, Items):
            for item in block.items:
                yield from item.text
                yield from pieces(item.blocks)
        elif isinstance(block, Table):
            yield from (piece for row in block.rows for cell in row for piece in cell)


def page(index: Index, kind: ModuleType, subject: str) -> Page:
    found: list[Page] = list(kind.pages(index, subject))
    assert len(found) == 1
    return found[0]


def group(index: Index, path: str, title: str) -> list[str]:
    """Return the lines below a heading of a file's keyword page."""
    found = list(lines(page(index, keywords, path).blocks))
    at = next(number for number, line in enumerate(found) if line.lstrip("#") == f" {title}")
    end = next((n for n in range(at + 1, len(found)) if found[n].startswith("#")), len(found))
    return found[at + 1 : end]


# --- a file


def test_definitions_say_where_they_are_and_who_uses_them(trees: Index) -> None:
    assert group(trees, "lib/tree.py", "Classes") == ["- Bush L20", "- Tree L6 · 4× here, 2× in wood.py"]
    assert group(trees, "lib/tree.py", "Functions") == [
        "- _seed L25 1×",
        "- plant L29 · 5× in wood.py, test_tree.py",
    ]
    assert group(trees, "lib/tree.py", "Methods") == [
        "- Bush",
        "  - step L21",
        "- Tree",
        "  - grow L11 · 1× in test_tree.py",
        "  - step L16 1×",
    ]


def test_imports_stand_under_their_modules(trees: Index) -> None:
    assert group(trees, "lib/tree.py", "Imports") == ["- enum L2: Enum", "- os L3 as system 1×"]
    assert group(trees, "lib/wood.py", "Imports") == ["- lib.tree L1: plant 2×, Tree 1×"]
    refs = {piece for piece in pieces(page(trees, keywords, "lib/wood.py").blocks) if isinstance(piece, Ref)}
    assert Ref(To.SYMBOL, "lib/tree.py", "plant", "plant") in refs
    assert Ref(To.FILE, "lib/tree.py", "", "lib.tree") in refs


def test_prose_has_the_names_of_code_that_it_mentions(trees: Index) -> None:
    assert group(trees, "README.md", "Identifiers") == ["- Enum L6", "- plant L3", "- Tree L6 2×"]
    refs = [piece for piece in pieces(page(trees, keywords, "README.md").blocks) if isinstance(piece, Ref)]
    assert Ref(To.SYMBOL, "lib/tree.py", "plant", "plant") in refs
    assert "- forest_of_trees L30" in group(trees, "lib/tree.py", "Identifiers")


def test_words_of_a_docstring_have_their_lines(folder: Path) -> None:
    index = made(folder, {"a.py": 'def f():\n    """\n    See `some_thing`.\n\n    And `other_thing`.\n    """\n'})
    assert group(index, "a.py", "Identifiers") == ["- other_thing L5", "- some_thing L3"]


def test_keys_are_listed_by_name(folder: Path) -> None:
    index = made(folder, {"a.yaml": "one:\n  type: x\ntwo:\n  type: y\n"})
    assert group(index, "a.yaml", "Keys") == ["- one L1", "- two L3", "- type L2, L4"]


def test_acronyms_are_joined_to_what_they_stand_for(trees: Index) -> None:
    assert any(line.startswith("- GTN (Growing Tree Node)") for line in group(trees, "lib/tree.py", "Concepts"))


def test_the_map_names_what_each_section_has(trees: Index) -> None:
    found = dict(
        line.removeprefix("- ").split(": ", 1) for line in group(trees, "lib/tree.py", "Keyword → Section Map")
    )
    assert found["High-Level Overview"] == "Bush, plant, step, Tree"
    assert found["Architecture & Design"] == "Bush, Tree"
    assert found["Detailed Analysis"] == "Classes, Functions, Methods, Fields"
    assert found["File Purpose"] == "height, GTN"
    assert found["Original Source"] == "Identifiers"
    assert found["Dependencies"] == "Imports"
    assert "plant" in found["Testing & Usage"].split(", ")


@pytest.mark.parametrize(
    ("path", "said"), [("logo.png", "PNG image, 16 bytes"), ("lib/empty.py", "The file is empty.")]
)
def test_files_without_keywords_say_what_they_are(trees: Index, path: str, said: str) -> None:
    (line,) = group(trees, path, "Keywords Extracted")
    assert line.startswith(said)


def test_an_index_rests_on_its_whole_file(trees: Index) -> None:
    found = page(trees, keywords, "lib/tree.py")
    assert [piece for piece in pieces(found.blocks) if isinstance(piece, Cite)] == [Cite("lib/tree.py")]


def test_the_terminal_names_the_section(trees: Index, folder: Path) -> None:
    rows = concordance.open(folder, update=False).keywords("lib/tree.py")
    sections = {row["keyword"]: row["section"] for row in rows}
    assert sections["Tree"] == "Detailed Analysis"
    assert sections["os"] == "Dependencies"
    assert sections["GTN (Growing Tree Node)"] == "File Purpose"
    assert sections["forest_of_trees"] == "Original Source"


# --- samples in prose


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("```python\nfrom a import (\n    B,\n    c,\n)\n# The For\n```\n", {"B": (3, 1), "c": (4, 1)}),
        ("```\nfrom a import B\n```\n", {}),  # nobody says that it is code
        (">>> import a_b\n", {"a_b": (1, 1)}),
        ("~~~~cpp\nknown_one(Any);\n~~~\nstruct S {\n~~~~\nknown_one\n", {"known_one": (2, 1), "S": (4, 1)}),
        ("known_one outside\n", {}),
        ("```sh\nrun --known_one\n```", {}),
    ],
)
def test_names_in_samples(text: str, names: dict[str, tuple[int, int]]) -> None:
    assert file_keywords.names_in_samples(text.split("\n"), lambda name: name == "known_one") == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The class represents a Tree. See GPUs, URLs and NOTE(ada).", []),
        ("Optional[Dict[str, int]] of nn.Module\nraise ValueError", ["Optional", "Dict", "Module", "ValueError"]),
        ("Mode.FULL_SHARD, L__self__, DTensor; at::Tensor", ["Mode", "FULL_SHARD", "L__self__", "DTensor", "Tensor"]),
        ("https://a.org/SomePage b/ATen/TensorImpl.h", []),
        ("_ExecOrderTracer is None", ["_ExecOrderTracer"]),
    ],
)
def test_names_are_told_by_how_they_are_written(text: str, names: list[str]) -> None:
    assert list(file_keywords.names_by_spelling(text)) == names


# --- folders


def test_a_subtree_ranks_what_is_used(trees: Index) -> None:
    found = list(lines(page(trees, subtree, "lib").blocks))
    assert found[0].startswith("3 files, 9 definitions: 2 classes, 3 functions, 3 methods")
    assert "plant | function | tree.py | 2" in found
    (tree,) = (line for line in found if line.startswith("- tree.py: "))
    assert re.search(r"; functions [^;]*\bplant\b.*; methods [^;]*\bstep ×2", tree)
    outside = list(lines(page(trees, subtree, "tests").blocks))
    assert "plant | function | lib/tree.py | 1" in outside[outside.index("## Used") :]


def test_a_large_subtree_is_shared_out(folder: Path) -> None:
    files: dict[str, str | bytes] = {
        f"big/{part}/m.py": "".join(f"def {part}_{number}(): pass\n" for number in range(900))
        for part in ("one", "two")
    }
    index = made(folder, {**files, "big/own.py": "def own(): pass\n"})
    found = list(lines(page(index, subtree, "big").blocks))
    assert "- one: 900 definitions" in found
    assert "- own.py: function own" in found
    assert not any("one_5" in line for line in found[found.index("## Defined") :])
    (names,) = (line for line in lines(page(index, subtree, "big/one").blocks) if line.startswith("- m.py: functions "))
    assert ", one_5, " in names and names.count("one_") == 900


# --- the whole


def test_shards_are_told_apart_by_their_names() -> None:
    maker = random.Random(4)
    names = {"".join(maker.choices("aAbBt_é9+", k=maker.randint(1, 9))) for _ in range(4000)}
    sizes = {name: maker.randint(40, 4000) for name in sorted(names)}
    shards = Shards(by_letter(sizes).items())
    found = {part: list(shards.names(part)) for part in shards.parts}
    assert sorted(name for inside in found.values() for name in inside) == sorted(names)
    assert len({part.lower() for part in found}) == len(found)
    other = Shards(by_letter(dict(reversed(sizes.items()))).items())
    assert found == {part: list(other.names(part)) for part in other.parts}
    for part, inside in found.items():
        assert all(letter_of(name) == part or name.lower().startswith(part.lower()) for name in inside)
        assert part in (DIGITS, OTHER) or sum(sizes[name] for name in inside) <= 1.5 * PAGE_BYTES


def test_the_front_page_leads_to_every_part(trees: Index) -> None:
    front = page(trees, letters, "")
    parts = {piece.path for piece in pieces(front.blocks) if isinstance(piece, Ref) and piece.to == To.LETTERS}
    assert parts == set(letters.subjects(trees)) - {""}


def test_a_repository_without_names_has_its_pages(folder: Path) -> None:
    index = made(folder, {"a.txt": ""})
    assert list(lines(page(index, letters, "").blocks)) == ["0 definitions of 0 names, and 0 concepts."]
    assert list(lines(page(index, subtree, "").blocks)) == ["1 file, 0 definitions."]


@pytest.mark.parametrize("number", [1, 9, 4096])
def test_bands(number: int) -> None:
    assert round_to_power(number) <= number < 2 * round_to_power(number)


def test_every_kind_has_a_group() -> None:
    assert set(GROUPS) == set(Kind)


# --- nothing is left out


def test_every_symbol_of_the_sample_is_on_its_pages(folder: Path) -> None:
    shutil.copytree(SAMPLE, folder, dirs_exist_ok=True)
    index = concordance.open(folder)._index
    shards = index.alphabet.shards
    by_letter = {part: "\n".join(_text(letters.pages(index, part))) for part in letters.subjects(index)}
    by_folder = {name: "\n".join(_text(subtree.pages(index, name))) for name in subtree.subjects(index)}
    count = 0
    for path in keywords.subjects(index):
        own = _text(keywords.pages(index, path))
        for symbol in index.facts.of(path).symbols:
            count += 1
            entry = f"- {symbol.name} "
            assert any(line.strip().startswith((entry, f"- {symbol.name} L")) for line in own), (path, symbol.key)
            above, _, name = path.rpartition("/")
            (names,) = (line for line in by_folder[above].split("\n") if line.startswith(f"- {name}: "))
            assert re.search(rf" {re.escape(symbol.name)}(?:[,; ]|$)", names), (path, symbol.key)
            (part,) = (part for part in shards.parts if symbol.name in shards.names(part))
            assert f"\n{entry}" in by_letter[part], (path, symbol.key)
    assert count == index.facts.symbol_count() > 100


def test_pages_do_not_depend_on_the_order_of_reading(trees: Index, folder: Path) -> None:
    def all_pages() -> list[Page]:
        index = concordance.open(folder)._index
        return [
            one
            for kind in (keywords, subtree, letters)
            for name in kind.subjects(index)
            for one in kind.pages(index, name)
        ]

    before = all_pages()
    text = (folder / "lib/tree.py").read_text()
    (folder / "lib/tree.py").write_text(f"{text}\n\nmore = 1\n")
    assert all_pages() != before
    (folder / "lib/tree.py").write_text(text)  # the same again, with other ids
    assert sorted(all_pages()) == sorted(before)


def _text(found: Iterable[Page]) -> list[str]:
    return [line for one in found for line in lines(one.blocks)]


def test_related_parts_are_found_without_looking_at_all() -> None:
    maker = random.Random(9)
    names = {"".join(maker.choices("aAbt_é9+", k=maker.randint(1, 9))) for _ in range(3000)}
    parts = Shards(by_letter(dict.fromkeys(sorted(names), 2000)).items()).parts
    for part in parts:
        low = part.lower()
        near = [one for one in parts if one != part and (one.lower().startswith(low) or low.startswith(one.lower()))]
        assert list(letters._related_parts(parts, part)) == near
    assert any(len(part) > 2 for part in parts)
