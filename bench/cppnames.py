"""Compares where C++ names lead with what libclang says, on sampled files of a repository.

In: a repository, and folders with headers that are not in it (`--include`: what its build generates, third parties).
Out: precision and recall by trust, over the references that libclang resolves to a place inside of the repository,
with and without parameters and local variables (those are bound in the file itself, and need no link); what we say of
names that lead outside (libraries, generated headers), which should be nothing; the misses by cause. An answer is right
where it is the place that libclang names, or the definition of what is declared there: the same qualified name with the
same parameters, for libclang sees one file with its headers and no other. The branches of a conditional, and a type's
other name that is declared again, count as one thing.

PyTorch's generated headers are made by its own programs, into a folder beside it: `torchgen.gen` (with
`--per-operator-headers --generate headers`), `tools.setup_helpers.generate_code`, `protoc` for its `.proto` files, and
its `*.h.in` with every setting off. Without them libclang does not know what a `Tensor` is, and judges far less.
"""

from __future__ import annotations

import argparse
import pickle
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple, Protocol

from bench.clangrefs import Reference, many
from concordance.base.kinds import C_FAMILY
from concordance.base.model import TYPE_KINDS, FileFacts, Kind, Links, Role, Symbol, Trust, unpack_column
from concordance.facts.links.graph import unpack_pairs
from concordance.facts.read import Facts
from concordance.workflow.store_location import FOLDER

_QUALIFIER = re.compile(r"\b\w+::|\s+|\b(?:struct|class|enum|typename)\b")
_COUNTED = re.compile(r"\+\d+(?=\.|$)")
_BINDS = (Role.WRITE, Role.DEFINE, Role.DECLARE)
_TEMPLATES = "/templates/"  # text with gaps that a build fills in: no compiler reads it
BOUND = "bound"  # in the file itself


class Store(Protocol):
    """What this benchmark asks a store."""

    def of(self, path: str) -> FileFacts:
        """Return a file's facts."""

    def links(self, path: str) -> Links:
        """Return a file's links."""

    def where(self, identity: int) -> tuple[str, int]:
        """Return the path and place of a symbol."""


class Built:
    """A store on disk."""

    def __init__(self, facts: Facts) -> None:
        self.of, self.links, self._place = facts.of, facts.links, facts.place

    def where(self, identity: int) -> tuple[str, int]:
        """The path and place of a symbol's id."""
        place = self._place(identity)
        return (place.path, place.place) if place is not None else ("", -1)


class Answer(NamedTuple):
    """Our answer for one reference."""

    path: str
    reference: Reference
    trust: str  # "" where nothing is said
    by: str
    right: bool
    said: str  # what we answer, for people


class Judge:
    """Compares a store with libclang."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._facts: dict[str, FileFacts] = {}

    def facts(self, path: str) -> FileFacts:
        """Return a file's facts; they are cached."""
        if path not in self._facts:
            self._facts[path] = self.store.of(path)
        return self._facts[path]

    def answers(self, path: str, references: list[Reference]) -> list[Answer]:
        """Return our answers for a file's references."""
        facts, links = self.facts(path), self.store.links(path)
        first: dict[int, tuple[int, int, str]] = {}
        rows = zip(unpack_column(links.use), unpack_column(links.target), links.trust, links.by, strict=True)
        for use, target, trust, by in rows:
            first.setdefault(use, (target, trust, links.resolvers[by]))
        here, declared = {}, {}
        for one, use in zip(facts.occurrences.rows(), unpack_column(facts.occurrences.use), strict=True):
            here[one.line, one.col] = one, use - 1
            if one.role in _BINDS and one.bound >= 0:
                declared.setdefault((one.bound, one.name), one.line)
        found = []
        for reference in references:
            met = here.get((reference.line, reference.col))
            if met is None:
                found.append(Answer(path, reference, "", "no name of ours", False, ""))
                continue
            one, use = met
            if use in first:
                target, trust, by = first[use]
                where, place = self.store.where(target)
                symbol = self.facts(where).symbols[place] if place >= 0 else None
                right = symbol is not None and self.same(where, symbol, reference)
                said = f"{where}:{symbol.line} {symbol.key}" if symbol is not None else where
                found.append(Answer(path, reference, Trust(trust).name.lower(), by, right, said))
            elif one.bound >= 0 and (one.bound, one.name) in declared and facts.scopes[one.bound].kind != "module":
                line = declared[one.bound, one.name]
                found.append(Answer(path, reference, BOUND, "scope", (path, line) in reference.targets, f"line {line}"))
            else:
                found.append(Answer(path, reference, "", "unresolved", False, ""))
        return found

    def same(self, path: str, symbol: Symbol, reference: Reference) -> bool:
        """True if a symbol is what libclang refers to."""
        if (path, symbol.line) in reference.targets:
            return True
        if not reference.targets and _TEMPLATES in path:
            return True  # what is generated from it
        key = _COUNTED.sub("", symbol.key)
        if reference.qualified:
            return key.replace(".", "::") == reference.qualified
        for other, line in reference.targets:
            for one in self.facts(other).symbols:
                if one.line == line and one.name == symbol.name and _COUNTED.sub("", one.key) == key:
                    again = one.declaration or symbol.declaration or one.condition or one.kind == symbol.kind == "type"
                    if again and _form(one) == _form(symbol):
                        return True
        return False


def _form(symbol: Symbol) -> tuple[object, ...]:
    types = tuple(_QUALIFIER.sub("", parameter.annotation) for parameter in symbol.parameters)
    return (types, "const" in symbol.modifiers)


def report(answers: list[Answer], show: int) -> None:
    """Print precision and recall, then what is missed and why."""
    elsewhere = [a for a in answers if not a.reference.targets and not a.reference.local]
    answers = [a for a in answers if a.reference.targets]
    for title, counted in (
        ("without parameters and local variables", [a for a in answers if not a.reference.local]),
        ("all references", answers),
    ):
        total = len(counted)
        said, right = Counter(a.trust for a in counted), Counter(a.trust for a in counted if a.right)
        sure = [BOUND, "exact", "via_import", "unique_name"]
        top = sum(right[trust] for trust in sure)
        given = sum(said[trust] for trust in sure)
        print(f"\n{title}: {total:,} references; recall {top / max(1, total):.4f}, precision {top / max(1, given):.4f}")
        for trust in (*sure, "candidate"):
            if said[trust]:
                print(f"  {trust:12}{said[trust]:>8,} said{right[trust]:>8,} right  {right[trust] / said[trust]:.4f}")
        print(f"  {'nothing':12}{said['']:>8,}")
    elsewhere = [a for a in elsewhere if not a.right]  # a namespace that files of the repository open, too, is both's
    claimed = Counter(a.trust for a in elsewhere if a.trust and a.trust != BOUND)
    print(f"\nnames that lead outside: {len(elsewhere):,}; claimed for the repository: {dict(claimed)}")
    missed = [a for a in answers if not a.right and not a.reference.local]
    missed += [a for a in elsewhere if a.trust and a.trust != BOUND]
    causes = Counter((a.trust or "nothing", a.by, a.reference.kind) for a in missed)
    print("\nmisses by what was said, why, and what it is:")
    for (trust, by, kind), count in causes.most_common(40):
        print(f"{count:>7}  {trust:12} {by[:48]:50}{kind}")
    drawn = random.Random(1).sample(missed, min(show, len(missed)))
    for a in sorted(drawn, key=lambda a: (a.trust, a.by, a.reference.kind)):
        place = f"{a.path}:{a.reference.line}:{a.reference.col}"
        targets = " ".join(f"{path}:{line}" for path, line in a.reference.targets[:2])
        print(f"{a.trust or 'nothing'} ({a.by}) {place} {a.reference.name}: {a.said or '-'}; libclang: {a.reference.kind} {targets}")


def report_uses(facts: Facts, judge: Judge, said: dict[str, list[Reference]]) -> None:
    """Prints how many of the files that a file is said to use, without including them, libclang finds used there.

    A pair of files is right if one of the names that make it is; a namespace and a forward declaration make none.
    """
    paths = {facts.id(file.path): file.path for file in facts.files()}
    used: dict[str, set[str]] = {}
    for user, target, _ in unpack_pairs(facts.analysis_result("pairs")):
        used.setdefault(paths[user], set()).add(paths[target])
    verdicts: Counter[str] = Counter()
    for path, references in said.items():
        links = facts.links(path)
        included = {where for target in links.imports for where in target.paths}
        places = {(one.line, one.col): one for one in references}
        found: dict[str, set[bool]] = {}
        uses = zip(judge.facts(path).occurrences.rows(), unpack_column(judge.facts(path).occurrences.use), strict=True)
        by_use: dict[int, list[tuple[Reference | None, Role]]] = {}
        for one, use in uses:
            by_use.setdefault(use - 1, []).append((places.get((one.line, one.col)), one.role))
        rows = zip(unpack_column(links.use), unpack_column(links.target), links.trust, strict=True)
        for use, target, trust in rows:
            where, place = judge.store.where(target)
            if trust == Trust.CANDIDATE or place < 0 or where == path:
                continue
            symbol = judge.facts(where).symbols[place]
            is_shared = symbol.kind == Kind.NAMESPACE or (symbol.declaration and symbol.kind in TYPE_KINDS)
            for reference, role in by_use.get(use, ()):
                if reference is not None and role not in (Role.DEFINE, Role.DECLARE):
                    found.setdefault(where, set()).add(not is_shared and judge.same(where, symbol, reference))
        for other in used.get(path, set()) - included if references else ():
            if facts.file(other).language in C_FAMILY and other in found:
                verdicts["right" if True in found[other] else "wrong"] += 1
    total = sum(verdicts.values())
    print(f"\nfiles used but not included: {total:,} judged; precision {verdicts['right'] / max(1, total):.4f}")


def sampled(facts: Facts, count: int, seed: int) -> list[tuple[str, str]]:
    """Return C++ files of a repository, with their language."""
    files = sorted((file.path, file.language) for file in facts.files() if file.language == "cpp" and not file.skip)
    files = [file for file in files if _TEMPLATES not in file[0]]
    return random.Random(seed).sample(files, min(count, len(files)))


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--include", action="append", default=[], help="a further folder with headers")
    parser.add_argument("--keep", type=Path, help="a file that keeps libclang's answers from run to run")
    parser.add_argument("--show", type=int, default=0, help="so many misses")
    options = parser.parse_args()
    facts = Facts(str(options.root / FOLDER))
    if options.keep and options.keep.exists():
        said = pickle.loads(options.keep.read_bytes())
    else:
        files = sampled(facts, options.count, options.seed)
        said = {}
        for path, references in many(str(options.root), files, options.include, 2):
            said[path] = references
            print(f"\r{len(said)} of {len(files)}", end="", file=sys.stderr)
        if options.keep:
            options.keep.write_bytes(pickle.dumps(said))
    judge = Judge(Built(facts))
    report_uses(facts, judge, said)
    report([answer for path, references in said.items() for answer in judge.answers(path, references)], options.show)


if __name__ == "__main__":
    main()
