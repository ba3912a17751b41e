"""`python -m bench rules ROOT [RULE …]`: findings drawn at random, each with its lines, to be judged by reading.

In: a repository with a store, and ids of rules (all by default). Out: up to 20 findings of each rule, drawn with a
fixed seed, so that the figures in `docs/findings.md` can be checked.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from pathlib import Path

from concordance.base.model import Finding
from concordance.extract.ruleset import rules
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER

DRAWN = 20
AROUND = 3  # lines before and behind


def drawn(found: list[tuple[str, Finding]], count: int = DRAWN) -> dict[str, list[tuple[str, Finding]]]:
    """Return findings of each rule, in the order of the text; the same ones for the same repository."""
    by_rule: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    for path, finding in sorted(found, key=lambda row: (row[0], row[1].line, row[1].col, row[1].by)):
        by_rule[finding.by].append((path, finding))
    return {
        rule: sorted(random.Random(f"{rule} {len(rows)}").sample(rows, min(count, len(rows))))
        for rule, rows in sorted(by_rule.items())
    }


def shown(root: Path, path: str, finding: Finding) -> str:
    """Return a finding with the lines around it."""
    lines = [line.decode(errors="replace") for line in (root / path).read_bytes().splitlines()]
    first, last = max(1, finding.line - AROUND), min(len(lines), max(finding.line, finding.end_line) + AROUND)
    text = [
        f"{'>' if finding.line <= n <= finding.end_line else ' '} {n:5} {lines[n - 1][:160]}"
        for n in range(first, last + 1)
    ]
    return "\n".join([f"{path}:{finding.line} {finding.message}", *text])


def main(root: Path, wanted: list[str]) -> None:
    """Print the findings drawn from a repository."""
    found = []
    with Facts(str(root / FOLDER)) as facts:
        for file in facts.files():
            found += [(file.path, finding) for finding in facts.findings(file.path) if finding.by in rules()]
    for rule, rows in drawn(found).items():
        if not wanted or rule in wanted:
            total = sum(finding.by == rule for _, finding in found)
            print(f"\n{rule}: {rules()[rule].title} ({len(rows)} of {total:,})")
            for number, (path, finding) in enumerate(rows, 1):
                print(f"\n[{number}] {shown(root, path, finding)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
