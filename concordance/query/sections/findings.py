"""Findings of rules as blocks, for the sections about performance and security.

In: the model of a file, and a category of rules. Out: items with line numbers. If nothing was found, the section says
how many rules were checked and links to them.
"""

from __future__ import annotations

from concordance.base.blocks import (
    Block,
    Item,
    Items,
    Line,
    Piece,
    Ref,
    Text,
    To,
    count_noun,
    join_in_sentence,
    parse_code_spans,
)
from concordance.base.model import Finding, Rule, Skip
from concordance.extract.ruleset import rules
from concordance.query.index.file_model import FileModel
from concordance.query.index.findings import active_rules


def finding_items(model: FileModel, category: str) -> list[Item]:
    """Return an item for each rule of the category that has findings in the file."""
    all_rules = rules()
    by_rule: dict[str, list[Finding]] = {}
    for finding in model.findings:
        rule = all_rules.get(finding.by)
        if rule is not None and rule.category == category:
            by_rule.setdefault(finding.by, []).append(finding)
    return [_item(model, all_rules[by], rows) for by, rows in by_rule.items()]


def _item(model: FileModel, rule: Rule, rows: list[Finding]) -> Item:
    """Return one item for all findings of a rule: its subject once, then each place."""
    pieces: list[Piece] = [Ref(To.RULE, rule.id, "", rule.id), f" ({rule.severity}) "]
    messages = {row.message for row in rows}
    if len(messages) == 1:
        pieces += [*parse_code_spans(rows[0].message), ": "]
        pieces += join_in_sentence([Line(model.path, row.line) for row in rows])
        return Item(pieces)
    pieces += [*parse_code_spans(rule.title), ":"]
    return Item(
        pieces, [Items([Item([*parse_code_spans(row.message), " ", Line(model.path, row.line)]) for row in rows])]
    )


def no_findings(model: FileModel, category: str) -> Block:
    """Return a sentence that says how many rules of the category were checked without a finding."""
    if model.file.skip != Skip.NONE:
        return Text(["Not read as text, so not checked."])
    checked = active_rules(model.index).checked(model.file.language, model.path)
    number = sum(rule.category == category for rule in checked)
    if not number:
        return Text([f"No {category} rules for {model.title}."])
    counted = count_noun(number, f"{category} rule")
    # The list of rules covers the languages of the repository, not those of its book.
    return Text(
        [
            "No findings (",
            counted if model.index.of_pages else Ref(To.RULE, "", model.title, counted, False),
            " checked).",
        ]
    )
