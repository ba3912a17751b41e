"""The page of a rule: what it looks for and why, an example, and where in the repository it was found.

In: a rule's id, or "" for the list of all rules by language. Out: one page. It links to files, whose own pages list the
lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from concordance.base.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Items,
    Mono,
    Page,
    Pieces,
    Ref,
    Strong,
    Table,
    Text,
    To,
    count_noun,
    join_in_sentence,
    parse_code_spans,
)
from concordance.base.kinds import Section
from concordance.base.model import Rule
from concordance.extract.registry import language_of
from concordance.extract.ruleset import rules
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import WHOLE_TABLE
from concordance.query.folders.contents import folder_ref
from concordance.query.index.findings import active_rules, findings_by_rule
from concordance.query.index.repository import Index

TO = To.RULE  # what links to these pages say

_SECTIONS = {  # by category of a rule: the section of a file's page that lists its findings, and the section's heading
    "performance": (Section.PERFORMANCE, "Performance Notes"),
    "security": (Section.SECURITY, "Security Considerations"),
}


def subjects(index: Index) -> list[str]:
    """Return "" for the list, and every rule that applies to a language of the repository."""
    return ["", *sorted({rule.id for language in index.counts for rule in active_rules(index).checked(language)})]


def pages(index: Index, subject: str) -> Iterator[Page]:
    """Yield the page of one rule, or the list."""
    index.reads.note(Aspect.PATHS, WHOLE_TABLE)
    index.reads.note("findings", subject or WHOLE_TABLE)
    if not subject:
        yield Page(Ref(To.RULE, ""), ["Rules"], _list(index))
        return
    rule = rules()[subject]
    yield Page(
        Ref(To.RULE, subject), ["Rule ", Mono(rule.id), ": ", *parse_code_spans(rule.title)], _blocks(index, rule)
    )


def _blocks(index: Index, rule: Rule) -> list[Block]:
    titles = [language_of(name).title for name in rule.languages]
    fence = rule.languages[0] if rule.languages else ""
    facts = [
        Item([Strong("Category"), f": {rule.category}"]),
        Item([Strong("Severity"), f": {rule.severity}"]),
        Item(
            [
                Strong("Languages"),
                ": ",
                *(join_in_sentence(list(dict.fromkeys(titles))) if titles else ["all text files"]),
            ]
        ),
        Item([Strong("Found by"), f": {rule.tool}", "" if rule.tests else ", outside tests and benchmarks"]),
    ]
    blocks: list[Block] = [Items(facts), Heading(2, ["Why"]), Text(parse_code_spans(rule.why))]
    if rule.bad:
        blocks += [Heading(2, ["Example"]), Text(["What it finds:"]), Code(rule.bad.rstrip("\n") + "\n", fence)]
        if rule.good:
            blocks += [Text(["What to write instead:"]), Code(rule.good.rstrip("\n") + "\n", fence)]
    blocks += [Heading(2, ["Where It Was Found"]), *_places(index, rule)]
    return [*blocks, Heading(2, ["Cross-References"]), Items([Item([Ref(To.RULE, "", "", "All rules", False)])])]


def _places(index: Index, rule: Rule) -> list[Block]:
    """Return the files with findings, folder by folder, and how many there are in each."""
    files = findings_by_rule(index).get(rule.id, Counter())
    if not files:
        read = sum(index.counts[name] for name in rule.languages) if rule.languages else len(index.file_rows)
        return [Text([f"No findings; {count_noun(read, 'file')} searched."])]
    by_folder: dict[str, list[str]] = {}
    for path in files:
        by_folder.setdefault(path.rpartition("/")[0], []).append(path)
    total = sum(files.values())
    head = (
        f"{count_noun(total, 'place')} in {count_noun(len(files), 'file')} of {count_noun(len(by_folder), 'folder')}."
    )
    rows: list[list[Pieces]] = []
    for folder, paths in by_folder.items():
        cell: list[Ref | str] = []
        for path in paths:
            cell += [", "] if cell else []
            cell += [Ref(To.FILE, path, _section(index, rule), path.rpartition("/")[2])]
            cell += [f" ({files[path]})"] if files[path] > 1 else []
        rows.append([[folder_ref(folder)], [f"{sum(files[path] for path in paths):,}"], cell])
    return [Text([head]), Table(["Folder", "Places", "Files"], rows)]


def _section(index: Index, rule: Rule) -> str:
    """Return the heading of file pages under which a rule's findings are listed, "" if the book omits that section."""
    section, heading = _SECTIONS.get(rule.category, ("", ""))
    return "" if section in index.book.sections_off else heading


def _list(index: Index) -> list[Block]:
    """Return every rule, under each language of the repository that it applies to."""
    places = {name: sum(files.values()) for name, files in findings_by_rule(index).items()}
    number = count_noun(len(subjects(index)) - 1, "rule")
    head = f"{number} for slow or unsafe code. Places are those found in this repository; tests and "
    blocks: list[Block] = [Text([head + "benchmarks count only for rules that also check them."])]
    titles: dict[str, list[Rule]] = {}
    for language in sorted(index.counts):
        if language:
            titles.setdefault(language_of(language).title, active_rules(index).checked(language))
    for title in sorted(titles):
        rows: list[list[Pieces]] = [
            [
                [Ref(To.RULE, rule.id, "", rule.id)],
                parse_code_spans(rule.title),
                [f"{rule.category}"],
                [f"{rule.severity}"],
                [f"{places.get(rule.id, 0):,}"],
            ]
            for rule in titles[title]
        ]
        if rows:
            blocks += [Heading(2, [title]), Table(["Rule", "What it finds", "Category", "Severity", "Places"], rows)]
    return blocks
