"""Sections about a folder: its place among other folders, key concepts, dependency diagram and important files.

In: an index and a folder. Out: blocks for the folder's page and its chapter in the book.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from concordance.base.blocks import (
    Block,
    Diagram,
    Item,
    Items,
    Mono,
    Node,
    Piece,
    Pieces,
    Ref,
    Table,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.base.model import Category, Kind
from concordance.query.book.key_definitions import KeyDefinition, key_definitions_of_folder, most_used_definition
from concordance.query.descriptions.quotations import as_sentence
from concordance.query.folders.contents import describe_in_row
from concordance.query.folders.folder_tree import Folder, folders
from concordance.query.index.file_model import ref_of
from concordance.query.index.ledger import ledger
from concordance.query.index.repository import Index
from concordance.query.search.absence import no_users_of_folder

_BOXES = 24  # parts in a diagram
_ARROWS = 40  # arrows in a diagram
_PROVIDED = 4  # definitions named in the sentence about what a folder provides
_NAMED = 5  # parts of the repository named in a sentence
_MAX_FILES = 10
_CONCEPTS = 8
_EVIDENT = 4  # a definition that fewer than a fourth of the users use does not explain why they use the file
_SIGNATURE = 100  # characters up to which a signature is shown in place of a missing description


# --- uses from and of other folders


def provision_sentence(index: Index, folder: str) -> list[Block]:
    """Return who uses a folder, and its most used definitions; nothing if there are none. A build file that uses the
    folder need not use its definitions, so these are two statements."""
    content = folders(index).all[folder]
    rows = key_definitions_of_folder(index, content, _PROVIDED)
    users = (
        folders(index).dependencies(folder)[1]
        if folder and rows and not content.mostly(Category.TEST)
        else Counter[str]()
    )
    if not users:
        return []
    names: list[Piece] = [ref_of(index, row.id, short=True) for row in rows]
    number = count_noun(sum(users.values()), "file")
    pieces = [f"Used by {number} outside it: ", *_part_counts(index, users), ". Its most used definitions: "]
    pieces += [*join_in_sentence(names), "."]
    described = next((row for row in rows if row.words), None)
    if described is not None:
        pieces += [" ", ref_of(index, described.id, short=True), ": ", *as_sentence(described.words)]
    return [Text(pieces)]


def usage_sentences(index: Index, folder: str, with_users: bool) -> list[Block]:
    """Return one sentence on what uses a folder, unless the page already says so, and one on what it uses."""
    if not folder:
        return []
    uses, users = folders(index).dependencies(folder)
    blocks: list[Block] = []
    if users and with_users:
        total = sum(users.values())
        blocks.append(Text(["Used by ", f"{count_noun(total, 'file')} outside it: ", *_part_counts(index, users), "."]))
    if uses:
        total = sum(uses.values())
        blocks.append(Text(["It uses ", f"{count_noun(total, 'file')} outside it: ", *_part_counts(index, uses), "."]))
    if not users and not uses:
        blocks += [Text(sentence)] if (sentence := no_users_of_folder(index, folders(index).below(folder))) else []
    return blocks


def _part_counts(index: Index, rows: Counter[str]) -> list[Piece]:
    """Return parts of the repository with numbers of files; the smallest are summed up."""
    ordered = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    shown = ordered[: _NAMED + (len(ordered) == _NAMED + 1)]
    pieces: list[list[Piece]] = [[part_ref(index, path), f" ({times:,})"] for path, times in shown]
    left = ordered[len(shown) :]
    if left:
        pieces.append(
            [f"{sum(times for _, times in left):,} in {count_noun(len(left), 'other part')} of the repository"]
        )
    sentence: list[Piece] = []
    for number, piece in enumerate(pieces):
        sentence += ([" and " if number == len(pieces) - 1 else ", "] if number else []) + piece
    return sentence


def part_ref(index: Index, path: str) -> Ref:
    """Return a link to a part of the repository, which is a folder or a file."""
    return Ref(To.INDEX if path in folders(index).all else To.FILE, path, "", path)


# --- concepts


def key_concepts(index: Index, folder: Folder) -> list[Block]:
    """Return the definitions that other files use most, each with its author's description."""
    rows = key_definitions_of_folder(index, folder, _CONCEPTS)
    if not rows:
        return []
    return [Items([concept_item(index, row) for row in rows])]


def concept_item(index: Index, row: KeyDefinition) -> Item:
    """Return an item for one definition: its name, kind, file, number of using files, and first sentence."""
    location: Piece = Ref(To.FILE, row.path, "", row.path.rpartition("/")[2])
    pieces: list[Piece] = [
        ref_of(index, row.id),
        f", {_kind_word(row.kind, row.path)} in ",
        location,
        f", used in {count_noun(row.times, 'file')}",
    ]
    if not row.words and row.signature and len(row.signature) <= _SIGNATURE:
        return Item([*pieces, ": ", Mono(row.signature)])
    return Item([*pieces, *([": ", *row.words] if row.words else [])])


def _kind_word(kind: str, path: str) -> str:
    return "trait" if kind == Kind.INTERFACE and path.endswith(".rs") else kind


# --- dependencies between parts


def dependency_diagram(index: Index, folder: Folder) -> list[Block]:
    """Return a diagram of how the parts of a folder use one another, and a sentence on what it leaves out."""
    start = f"{folder.path}/" if folder.path else ""
    arrows = Counter(
        {
            (here, there): times
            for (here, there), times in index.folder_edges(folder.path).items()
            if not _is_test(index, start + there) or _is_test(index, start + here)
        }
    )
    if not arrows:
        return []
    weight: Counter[str] = Counter()
    for (here, there), times in arrows.items():
        weight[here] += times
        weight[there] += times
    chosen = {name for name, _ in sorted(weight.items(), key=lambda row: (-row[1], row[0]))[:_BOXES]}
    inside = {pair: times for pair, times in arrows.items() if pair[0] in chosen and pair[1] in chosen}
    drawn = _strongest(inside)
    names = sorted({name for pair, _ in drawn for name in pair}, key=lambda name: (not name.endswith("/"), name))
    nodes = [Node(name, name, ref=_part_link(start + name)) for name in names]
    graph = Diagram(nodes, [(here, there, f"{times:,}" if times > 1 else "") for (here, there), times in drawn])
    total = len(folder.files) + len(folder.folders)
    words = "Arrows point from a part to the parts it uses; numbers count pairs of files, if more than one."
    if len(drawn) < len(arrows):
        words += (
            f" Showing the {len(names)} most connected of {total} parts and {len(drawn)} of {len(arrows):,} arrows."
        )
    elif len(names) < total:
        left = total - len(names)
        words += f" {count_noun(left, 'other part')} {'is' if left == 1 else 'are'} not connected."
    return [graph, Text([words])]


def _part_link(path: str) -> Ref:
    return Ref(To.FOLDER, path[:-1]) if path.endswith("/") else Ref(To.FILE, path)


def _is_test(index: Index, path: str) -> bool:
    folder = folders(index).all.get(path.removesuffix("/"))
    if folder is not None:
        return folder.mostly(Category.TEST)
    return index.category_of(path) == Category.TEST


def _strongest(arrows: dict[tuple[str, str], int]) -> list[tuple[tuple[str, str], int]]:
    """Return the arrows with most uses, and at least one arrow for each part."""
    ordered = sorted(arrows.items(), key=lambda row: (-row[1], row[0]))
    kept: dict[tuple[str, str], int] = {}
    seen: set[str] = set()
    for pair, times in ordered:
        if pair[0] not in seen or pair[1] not in seen:
            seen.update(pair)
            kept[pair] = times
    for pair, times in ordered:
        if len(kept) >= _ARROWS:
            break
        kept.setdefault(pair, times)
    return sorted(kept.items(), key=lambda row: row[0])


# --- files


def important_table(index: Index, paths: Sequence[str], folder: str) -> Table:
    """Return a table of files with what they are and why they matter."""
    rows: list[list[Pieces]] = []
    for path in paths:
        label = path[len(folder) + 1 :] if folder else path
        rows.append([[Ref(To.FILE, path, "", label)], describe_in_row(index, path), importance_reason(index, path)])
    if not any(row[-1] for row in rows):
        return Table(["File", "What it is"], [row[:-1] for row in rows])
    return Table(["File", "What it is", "Why it matters"], rows)


def importance_reason(index: Index, path: str) -> list[Piece]:
    """Return why a file matters: how many files use it, and its most used definition."""
    users = len(index.neighbours.users_of(index.file_id(path)))
    best = most_used_definition(index, path)
    if not users and best is None:
        tests = ledger(index).tests[path]
        return [count_noun(tests, "test")] if tests else []
    pieces: list[Piece] = [f"used by {count_noun(users, 'file')}"] if users else []
    if best is not None and _EVIDENT * best.times >= users and (best.times > 1 or users < 2):
        times = best.times
        name = ref_of(index, best.id, short=True)
        if times >= users > 1:
            pieces += [", both use " if users == 2 else ", all use ", name]
        elif times >= users:
            pieces += [", " if pieces else "used ", "for ", name]
        else:
            pieces += [", ", name, f" by {times:,} of them"]
    return pieces


def important_files(index: Index, folder: str) -> list[Block]:
    """Return a table of the most important files of a folder."""
    paths = folders(index).central(folder, _MAX_FILES)
    return [important_table(index, paths, folder)] if paths else []
