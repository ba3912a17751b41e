"""The book: its front page and chapters, followed by reading paths, a glossary and an index of names.

In: "" for the front page, or the name of a page of the book. Out: one page. The division into parts and chapters is
computed once, in `query/book/chapters.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Diagram,
    Heading,
    Item,
    Items,
    Mono,
    Node,
    Page,
    Piece,
    Ref,
    Strong,
    Text,
    To,
    count_noun,
    join_in_sentence,
)
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import ANYTHING, BELOW, WHOLE_TABLE
from concordance.query.book import chapter_sections, glossary, reading_paths
from concordance.query.book.chapters import GLOSSARY, NAMES, PATHS, plan
from concordance.query.descriptions.quotations import as_sentence
from concordance.query.folders.description import describe_folder, file_counts_in_words
from concordance.query.folders.folder_tree import folders
from concordance.query.folders.project_name import name_of
from concordance.query.folders.repository import readme_opening, title_of
from concordance.query.index.file_model import ref_of
from concordance.query.index.repository import Index
from concordance.query.pages import listed_kinds

TO = To.BOOK  # what links to these pages say

_BOXES = 24  # chapters in the diagram


def subjects(index: Index) -> list[str]:
    """Return "" for the front page, the name of every chapter, and the pages that follow them."""
    return ["", *(chapter.name for chapter in plan(index).ordered), PATHS, GLOSSARY, NAMES]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield one page of the book."""
    title: list[Piece]
    if subject in ("", PATHS):
        index.reads.note(ANYTHING, "")
    if not subject:
        title, blocks = ["Comprehensive Book: ", title_of(index)], _front(index)
    elif subject == PATHS:
        title, blocks = ["Reading Paths"], _paths(index)
    elif subject == GLOSSARY:
        title, blocks = ["Glossary"], _glossary(index)
    elif subject == NAMES:
        title, blocks = ["Index of Names"], _names(index)
    else:
        chapter = next(one for one in plan(index).ordered if one.name == subject)
        index.reads.note(BELOW, chapter.folder)
        index.reads.note("chapters", chapter.name)
        title = ["Chapter: ", chapter_sections.label_of(index, chapter)]
        blocks = chapter_sections.chapter_blocks(index, chapter)
    yield Page(Ref(To.BOOK, subject), title, blocks)


# --- the front page


def _front(index: Index) -> list[Block]:
    root = folders(index).all[""]
    chapters = plan(index)
    blocks: list[Block] = []
    words = readme_opening(index)
    if words is not None:
        blocks += [Text([Ref(To.FILE, words.path), ":", words.cite()]), words.block()]
    blocks.append(
        Text(
            [
                f"{count_noun(len(chapters.ordered), 'chapter')} in {count_noun(len(chapters.parts), 'part')} "
                f"cover all {count_noun(root.count, 'file')}: {file_counts_in_words(root)}. Chapters that others "
                "depend on come first."
            ]
        )
    )
    blocks += _chapter_diagram(index)
    blocks.append(Heading(2, ["Contents"]))
    number = 0
    for place, part in enumerate(chapters.parts, 1):
        blocks.append(Heading(3, [f"Part {place}: ", Mono(part.title) if part.is_folder else part.title]))
        if part.is_folder:
            blocks.append(Text(as_sentence(describe_folder(index, part.title))))
        items = []
        for chapter in part.chapters:
            number += 1
            head: list[Piece] = [f"Chapter {number}: ", chapter_sections.chapter_ref(index, chapter)]
            items.append(
                Item(
                    [
                        *head,
                        f" ({chapter_sections.size_in_words(index, chapter)}): ",
                        *chapter_sections.chapter_summary(index, chapter),
                    ]
                )
            )
        blocks.append(Items(items))
    blocks += [Heading(2, ["Reference"]), _back_matter(index)]
    return blocks


def _back_matter(index: Index) -> Items:
    more = [(Ref(to, "", "", title, False), about) for title, to, about in listed_kinds(index)]
    rows: tuple[tuple[Ref, str], ...] = (
        (
            Ref(To.BOOK, PATHS, "", "Reading Paths", False),
            "which files to read for each chapter, in what order, and how long it takes",
        ),
        (Ref(To.BOOK, GLOSSARY, "", "Glossary", False), "terms and acronyms in the repository's own words"),
        (Ref(To.BOOK, NAMES, "", "Index of Names", False), "the classes and functions to know, and their chapters"),
        *more,
        (Ref(To.LETTERS, "", "", "Keywords", False), "every name from A to Z"),
        (Ref(To.INDEX, "", "", "Index", False), "every folder and file"),
        (Ref(To.REPORT, "", "", "Verification Report", False), "which files were read, which were not, and why"),
    )
    return Items([Item([ref, f": {words}"]) for ref, words in rows])


def _chapter_diagram(index: Index) -> list[Block]:
    """Return a diagram of how the largest chapters depend on one another."""
    book_plan = plan(index)
    heavy = sorted(
        (chapter for chapter in book_plan.ordered if chapter.folder),
        key=lambda chapter: (-chapter.lines, chapter.folder),
    )
    chosen = [chapter for chapter in heavy if book_plan.uses(chapter.folder) or book_plan.users(chapter.folder)][
        :_BOXES
    ]
    names = {chapter.folder for chapter in chosen}
    edges: list[tuple[str, str, str]] = []
    for chapter in chosen:
        rows = [(there, times) for there, times in book_plan.uses(chapter.folder) if there in names]
        edges += [(chapter.folder, there, f"{times:,}") for there, times in rows[:2]]
    if not edges:
        return []
    drawn = [chapter for chapter in chosen if any(chapter.folder in edge[:2] for edge in edges)]
    nodes = [
        Node(chapter.folder, chapter.folder, ref=chapter_sections.chapter_ref(index, chapter)) for chapter in drawn
    ]
    graph = Diagram(nodes, edges)
    left = len(book_plan.ordered) - len(drawn)
    more = f" {count_noun(left, 'other chapter')} {'is' if left == 1 else 'are'} not shown." if left else ""
    return [
        graph,
        Text(
            [
                "Each chapter with the two chapters it depends on most; numbers count the pairs of files "
                f"in which one uses the other.{more}"
            ]
        ),
    ]


# --- the pages after the chapters


def _paths(index: Index) -> list[Block]:
    book_plan = plan(index)
    blocks: list[Block] = [
        Text(
            [
                f"Times assume one minute per {reading_paths.LINES_PER_MINUTE} lines of code or comment; "
                "blank lines are not counted."
            ]
        )
    ]
    whole = reading_paths.path_through_the_whole(index)
    if len(whole.steps) > 1:
        total = reading_paths.time_in_words(sum(step.minutes for step in whole.steps))
        which = f"a central file of each of the {count_noun(whole.chapters, 'chapter')} that others use most"
        if whole.instances:
            of = count_noun(whole.instances, "documented type")
            which += f", and {of} with a single instance that several chapters use"
        words: list[Piece] = ["To see ", title_of(index), f" from its foundations up, read {which}, about {total}:"]
        blocks += [Heading(2, ["The whole"]), Text(words), reading_paths.step_list(index, whole.steps)]
    for part in book_plan.parts:
        blocks.append(Heading(2, [Mono(part.title) if part.is_folder else part.title]))
        for chapter in part.chapters:
            way = reading_paths.chapter_path(index, chapter, chapter_sections.chapter_ref(index, chapter))
            if way:
                blocks += [Heading(3, [chapter_sections.label_of(index, chapter)]), *way]
    return blocks


def _glossary(index: Index) -> list[Block]:
    index.reads.note("used definitions", WHOLE_TABLE)
    rows = glossary.glossary_entries(index)
    if not rows:
        return [Text(["No definitions of terms found in documents, acronyms and the most used classes."])]
    blocks: list[Block] = [
        Text([f"{count_noun(len(rows), 'term')} of ", title_of(index), ", each in the words of the cited file."])
    ]
    letter, items = "", list[Item]()
    for entry in rows:
        first = entry.term[0].upper() if entry.term[0].isalpha() else "#"
        if first != letter:
            if items:
                blocks.append(Items(items))
            letter, items = first, []
            blocks.append(Heading(2, [letter if letter != "#" else "0–9 and symbols"]))
        items.append(Item([entry.ref or Strong(entry.term), ": ", *entry.words, ", ", glossary.source_link(entry)]))
    return [*blocks, Items(items)]


def _names(index: Index) -> list[Block]:
    """Return the most important names of every chapter, A to Z, each with its chapters."""
    book_plan = plan(index)
    for what in ("used definitions", "chapters", Aspect.PATHS):
        index.reads.note(what, WHOLE_TABLE)
    names: dict[str, list[tuple[Ref, Ref]]] = {}
    for chapter in book_plan.ordered:
        for row in chapter_sections.key_definitions_of_chapter(index, chapter.folder):
            names.setdefault(row.name, []).append((ref_of(index, row.id), chapter_sections.chapter_ref(index, chapter)))
    if not names:
        return [Text([f"No definition in {name_of(index)} was found that two files use."])]
    blocks: list[Block] = []
    letter, items = "", list[Item]()
    for name in sorted(names, key=lambda name: (name.strip("_").lower(), name)):
        first = (name.strip("_") or name)[0].upper()
        first = first if first.isalpha() else "#"
        if first != letter:
            if items:
                blocks.append(Items(items))
            letter, items = first, []
            blocks.append(Heading(2, [letter if letter != "#" else "0–9 and symbols"]))
        pieces: list[Piece] = []
        for ref, chapter_link in names[name]:
            pieces += ([", "] if pieces else []) + [ref, " in ", chapter_link]
        items.append(Item(pieces))
    return [
        *blocks,
        Items(items),
        Text([*join_in_sentence([Ref(To.LETTERS, "", "", "Every name", False)]), " is listed in the keywords."]),
    ]
