"""Descriptions of folders, from their README, package documentation or a guide's entry, or else from their contents.

In: an index and a folder. Out: `describe_folder`, one line for a table; `author_blocks`, longer quotations from its
authors, each with a citation; and `file_counts_in_words`, the numbers of files by language or kind.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from concordance.base.blocks import Block, Cite, Mono, Piece, Pieces, Ref, Text, To, count_noun, join_in_sentence
from concordance.base.model import Category
from concordance.extract.registry import is_prose
from concordance.facts.updates.reads import BELOW, memoised
from concordance.query.descriptions.document_opening import read_opening
from concordance.query.descriptions.documentation_pages import quote_documentation
from concordance.query.descriptions.files import describe
from concordance.query.descriptions.guide_entries import quote_guide_entry
from concordance.query.descriptions.quotations import first_sentence, is_instruction, is_statement, quote_sentence
from concordance.query.folders.folder_tree import Folder, folders, used_definitions_of_folder
from concordance.query.index.file_model import ref_of
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index

_OF_THE_HOST = (".github", ".gitlab")  # a README here is about the whole repository
_READMES = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown")
_PACKAGES = ("__init__.py", "__init__.pyi", "doc.go", "mod.rs", "lib.rs", "package-info.java", "index.ts", "index.js")
_MAX_NAMES = 3


class FolderDescription(NamedTuple):
    """What a file says about the folder it is in."""

    path: str
    words: str


def folder_descriptions(index: Index, folder: str) -> list[FolderDescription]:
    """Return what the files in a folder say about it: its README, then the file that documents the package."""
    files = {path.rpartition("/")[2].lower(): path for path in folders(index).all[folder].files}
    descriptions = []
    readmes = () if folder in _OF_THE_HOST else _READMES
    names = [*readmes, *_PACKAGES, *(name for name in sorted(files) if _documents_package(index, files[name]))]
    for name in dict.fromkeys(names):
        path = files.get(name)
        if path is None or ledger(index).files[path].skip:
            continue
        opening = read_opening(index, path) if is_prose(index.language_of(path)) else None
        doc = opening.text if opening is not None else outline(index, path).doc
        sentence = first_sentence(doc, index.language_of(path))
        first_word = sentence.partition(" ")[0].strip("`:")
        about_file = first_word in folders(index).all[folder].files or first_word.lower() in files  # a list's entry
        if is_statement(sentence) and not about_file:
            descriptions.append(FolderDescription(path, doc))
    return descriptions


def _documents_package(index: Index, path: str) -> bool:
    """True for a file of Go with the documentation of its package, which may be in any of them."""
    return path.endswith(".go") and not path.endswith("_test.go") and outline(index, path).doc.startswith("Package ")


@memoised(2048, BELOW)
def describe_folder(index: Index, folder: str) -> Pieces:
    """Return a one-line description of a folder: a guide's entry, else what its own files say, else its contents."""
    quoted = quote_guide_entry(index, folder) if folder else []
    if quoted:
        return quoted
    for description in folder_descriptions(index, folder):
        sentence = first_sentence(description.words, index.language_of(description.path))
        if not is_instruction(sentence):
            return quote_sentence(index, description.path, sentence, description.words)
    if documented := _package_documentation(index, folder):
        return documented
    here = folders(index).all[folder]
    only = here.folders[0] if len(here.folders) == 1 and not here.files and here.count > 1 else ""
    inner = describe_folder(index, only) if only else []
    return inner if any(isinstance(piece, Cite) for piece in inner) else _by_facts(index, here)


def _package_documentation(index: Index, folder: str) -> list[Piece]:
    """Return what the document about a package says of it, quoted; nothing if there is none."""
    path = f"{folder}/__init__.py"
    return quote_documentation(index, path) if path in folders(index).all[folder].files else []


def _by_facts(index: Index, folder: Folder) -> list[Piece]:
    """Return a summary of a folder's contents and of what others use most."""
    if not folder.count:
        return ["no files"]
    if folder.count == 1:
        path = folders(index).below(folder.path)[0]
        return ["only ", Ref(To.FILE, path, "", path[len(folder.path) + 1 :]), ": ", *describe(index, path)]
    counts = _workflows(index, folder) or file_counts_in_words(folder)
    tests = folder.tests if folder.mostly(Category.TEST) else 0
    pieces: list[Piece] = [f"{counts}, with {count_noun(tests, 'test')}" if tests else counts]
    names = most_used_names(index, folder, _MAX_NAMES)
    if names:
        pieces += ["; most used: ", *join_in_sentence(names)]
    elif folder.count <= _MAX_NAMES and len(folder.files) == folder.count:
        pieces += [": ", *join_in_sentence([Ref(To.FILE, path, "", path.rpartition("/")[2]) for path in folder.files])]
    elif not folder.files and len(folder.folders) == 1:
        inner = folder.folders[0]
        pieces += [", all in ", Ref(To.INDEX, inner, "", inner.rpartition("/")[2])]
    elif not folder.tests:
        pieces += _common_extension(folder)
    return pieces


def _workflows(index: Index, folder: Folder) -> str:
    """Return the number of workflows in words if a folder contains nothing else, else ""."""
    if folder.languages["YAML"] < folder.count or folder.folders:
        return ""
    jobs = [any(s.name == "jobs" and s.parent < 0 for s in outline(index, path).symbols) for path in folder.files]
    return count_noun(len(jobs), "workflow") if all(jobs) else ""


def most_used_names(index: Index, folder: Folder, limit: int) -> list[Piece]:
    """Return links to the definitions in a folder that most files use, each name once.

    Private definitions are shown only if there are no public ones, and those in tests only of a folder of tests.
    """
    rows = [row for row in used_definitions_of_folder(index, folder) if row.times > 1]
    pieces: dict[str, Piece] = {}
    private: dict[str, Piece] = {}
    for definition in rows:
        kind = pieces if outline(index, definition.path).symbols[definition.place].public else private
        ref = ref_of(index, definition.id, short=True)
        if ref.label == "default":  # what a module of JavaScript exports without a name
            continue
        kind.setdefault(ref.label, ref)
        if len(pieces) == limit:
            break
    return list((pieces or private).values())[:limit]


def _common_extension(folder: Folder) -> list[Piece]:
    """Return the file name extension that most files of a folder share, if it adds information."""
    if folder.folders:
        return []  # the number of files includes those below, the names do not
    names = [path.rpartition("/")[2] for path in folder.files]
    ends = Counter(f".{name.rpartition('.')[2]}" for name in names if "." in name.lstrip("."))
    if not ends:
        return []
    if max(folder.nouns, key=lambda noun: (folder.nouns[noun], noun)).endswith(" file") and folder.languages:
        return []  # the language implies the extension
    end, times = min(ends.items(), key=lambda row: (-row[1], row[0]))
    if times > 3 and 2 * times > len(names):
        return [", ", f"{times:,} of them ", Mono(f"*{end}")] if times < folder.count else [", all ", Mono(f"*{end}")]
    return []


def file_counts_in_words(folder: Folder) -> str:
    """Return the numbers of files by language or kind: `41 C++ files, 12 CUDA files and 3 others`."""
    rows = sorted(folder.nouns.items(), key=lambda row: (-row[1], row[0]))
    shown = [(name, times) for name, times in rows[:_MAX_NAMES] if 12 * times >= folder.count]
    left = folder.count - sum(times for _, times in shown)
    if left and len(rows) == len(shown) + 1:
        shown.append(rows[len(shown)])
        left = 0
    words = [count_noun(times, name) for name, times in shown]
    return _and([*words, *([count_noun(left, "other")] if left and words else [])]) or count_noun(folder.count, "file")


def _and(words: list[str]) -> str:
    return "".join(str(piece) for piece in join_in_sentence(words))


def author_blocks(index: Index, folder: str) -> list[Block]:
    """Return what the authors say about a folder: a guide's entry, and the openings of its README and package docs."""
    blocks: list[Block] = []
    quoted = quote_guide_entry(index, folder) if folder else []
    if quoted:
        cite = next(piece for piece in quoted if isinstance(piece, Cite))
        blocks.append(Text([Ref(To.FILE, cite.path), ": ", *quoted]))
    for description in folder_descriptions(index, folder):
        words = read_opening(index, description.path)
        if words is not None:
            blocks += [
                Text([Ref(To.FILE, description.path, "", description.path.rpartition("/")[2]), ":", words.cite()]),
                words.block(),
            ]
    here = folders(index).all[folder]
    if not blocks and not here.files and len(here.folders) == 1:
        return author_blocks(index, here.folders[0])
    documented = _package_documentation(index, folder) if not blocks else []
    return [Text(documented)] if documented else blocks
