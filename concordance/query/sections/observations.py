"""The sections about patterns, performance and security: what was noticed in a file's code, with line numbers.

In: the model of a file. Out: blocks. If nothing was found, the section says how many rules were checked and links to
them.
"""

from __future__ import annotations

from concordance.base.blocks import (
    Block,
    Item,
    Items,
    Line,
    Mono,
    Piece,
    Ref,
    Strong,
    Text,
    To,
    count_noun,
    join_in_sentence,
    join_with_commas,
    parse_code_spans,
)
from concordance.base.model import Finding, PatternPlace, Rule, Skip
from concordance.extract.ruleset import rules
from concordance.query.index.file_model import FileModel
from concordance.query.index.findings import active_rules

_LISTED = 8  # places of a pattern that are listed at most; if there are more, they are counted and the first few listed
_FIRST = 3
COMPLEX = 25  # cyclomatic complexity from which a function is reported


def patterns_of(one: FileModel) -> list[Block]:
    """Return the patterns, each with the lines that show it."""
    rows = _patterns(one)
    if rows:
        return [Items([_pattern_item(one, name, places) for name, places in rows.items()])]
    return [Text([f"No known patterns found ({one.title})."])]


def _patterns(one: FileModel) -> dict[str, list[PatternPlace]]:
    """Return the places that show each pattern."""
    rows: dict[str, list[PatternPlace]] = {}
    for place in one.facts.patterns if one.file.skip == Skip.NONE else ():
        rows.setdefault(place.pattern, []).append(place)
    return rows


def _pattern_item(one: FileModel, name: str, places: list[PatternPlace]) -> Item:
    """Return an item: a pattern, the names concerned, each with its detail in brackets, and the lines."""
    shown = places if len(places) <= _LISTED else places[:_FIRST]
    pieces: list[Piece] = [Strong(name), ": "]
    if len(shown) < len(places):
        pieces.append(f"{count_noun(len(places), 'place')}, first ")
    for number, place in enumerate(shown):
        if number:
            pieces.append(", ")
        named = place.symbol >= 0 or place.subject
        if named:
            pieces.append(one.own(place.symbol) if place.symbol >= 0 else Mono(place.subject))
        if place.detail:
            pieces.append(f" ({place.detail})" if named else place.detail)
    lines = sorted({place.line for place in shown})
    return Item([*pieces, " ", *join_with_commas([Line(one.path, line) for line in lines])])


def performance(one: FileModel) -> list[Block]:
    """Return findings about performance, and functions of high complexity."""
    items = _found(one, "performance")
    hot = sorted(
        ((ways, place) for place, ways in enumerate(one.complexity) if ways >= COMPLEX),
        key=lambda row: (-row[0], row[1]),
    )
    if hot:
        pieces: list[Piece] = ["Complex: "]
        for number, (ways, place) in enumerate(hot):
            symbol = one.symbols[place]
            pieces += [", " if number else "", one.own(place), f" (complexity {ways}) ", Line(one.path, symbol.line)]
        items.append(Item(pieces))
    return [Items(items)] if items else [_none(one, "performance")]


def security(one: FileModel) -> list[Block]:
    """Return findings about security."""
    items = _found(one, "security")
    return [Items(items)] if items else [_none(one, "security")]


def _found(one: FileModel, category: str) -> list[Item]:
    known = rules()
    by_rule: dict[str, list[Finding]] = {}
    for finding in one.findings:
        rule = known.get(finding.by)
        if rule is not None and rule.category == category:
            by_rule.setdefault(finding.by, []).append(finding)
    return [_item(one, known[by], rows) for by, rows in by_rule.items()]


def _item(one: FileModel, rule: Rule, rows: list[Finding]) -> Item:
    """Return one item for all findings of a rule: its subject once, then each place."""
    pieces: list[Piece] = [Ref(To.RULE, rule.id, "", rule.id), f" ({rule.severity}) "]
    messages = {row.message for row in rows}
    if len(messages) == 1:
        pieces += [*parse_code_spans(rows[0].message), ": "]
        pieces += join_in_sentence([Line(one.path, row.line) for row in rows])
        return Item(pieces)
    pieces += [*parse_code_spans(rule.title), ":"]
    return Item(
        pieces, [Items([Item([*parse_code_spans(row.message), " ", Line(one.path, row.line)]) for row in rows])]
    )


def _none(one: FileModel, category: str) -> Block:
    if one.file.skip != Skip.NONE:
        return Text(["Not read as text, so not checked."])
    asked = active_rules(one.index).checked(one.file.language, one.path)
    tried = [rule for rule in asked if rule.category == category]
    if not tried:
        return Text([f"No {category} rules for {one.title}."])
    rules_ = count_noun(len(tried), f"{category} rule")
    # The list of rules covers the languages of the repository, not those of its book.
    return Text(
        ["No findings (", rules_ if one.index.of_pages else Ref(To.RULE, "", one.title, rules_, False), " checked)."]
    )
