"""How well `concord search` orders its results, by queries with judged answers: NDCG@10.

In: a folder of checkouts named like the files in `bench/judged` (those that are missing are skipped, and named). Each
file gives queries that people type, with the answers written down before any result was seen; `tests/support/judged.py`
explains the files and the number. Out: a table with one row per repository. Every third query is held out: it was not
looked at while the ranking was changed. `--worst` lists the others that score below 0.7, with their results.
"""

from __future__ import annotations

import sys
from pathlib import Path

import concordance
from tests.support.judged import measure, read_queries

FOLDER = Path(__file__).parent / "judged"
HELD_OUT = 3  # every third query


def main(arguments: list[str]) -> None:
    """Print the table."""
    worst = "--worst" in arguments
    corpus = Path(next((one for one in arguments if one != "--worst"), "../corpus"))
    print("| repository | queries | NDCG@10 | seen while tuning | held out |\n|---|---|---|---|---|")
    every: list[tuple[bool, float]] = []
    for path in sorted(FOLDER.glob("*.tsv")):
        if not (corpus / path.stem).exists():
            print(f"    {path.stem} is not in {corpus}: skipped", flush=True)
            continue
        queries = read_queries(path)
        with concordance.open(corpus / path.stem, update=False) as repository:
            scores = measure(repository, queries)
            rows = [(place % HELD_OUT == 0, score) for place, score in enumerate(scores, 1)]
            _print_row(path.stem, rows)
            for query, (held_out, score) in zip(queries, rows, strict=True):
                if worst and score < 0.7 and not held_out:
                    print(f"    {score:.2f} {query.text} -> {' ; '.join(answer.places[0] for answer in query.answers)}")
                    for row in repository.search(query.text, number=4):
                        print(f"         {row['path']}:{row['line']} {row['symbol']} {row['kind']}")
        every += rows
    _print_row("all", every)


def _print_row(name: str, rows: list[tuple[bool, float]]) -> None:
    seen, held_out = ([score for held, score in rows if held is which] for which in (False, True))
    means = [f"{sum(some) / len(some):.3f}" if some else "–" for some in ([score for _, score in rows], seen, held_out)]
    print(f"| {name} | {len(rows)} | {' | '.join(means)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
