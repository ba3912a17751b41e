"""Mends what a C-family parser trips over, one small edit at a time, and keeps only what helps.

In: a blanked file and its tree with errors. Out: a tree with fewer, and trees for the branches of
conditionals that no single tree can hold. No table explains every macro (many come from headers that
are not in the repository) and no grammar knows every construct, so each error is met with a ladder
of likely causes; an edit after which its error is still there is taken back. Lengths never change.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from tree_sitter import Parser, Query, Tree

from concordance.extract import trees
from concordance.extract.cfamily.directives import Group, Lines
from concordance.extract.cfamily.macro_blanking import Blanked, to_spaces
from concordance.extract.cfamily.macros import Macros
from concordance.extract.cfamily.repair_steps import LADDER, Edit, Spot, Steps

_WORD = re.compile(rb"[A-Za-z_]\w*")
_ROUNDS = 8
_FAR = 60  # lines; an error longer than this says nothing of its cause
_BRACKETS = re.compile(rb"[{}()]")


@dataclass(slots=True)
class Version:
    """A tree, and the stretches of the file that it speaks for; none named means all."""

    tree: Tree
    stretches: list[tuple[int, int]] = field(default_factory=list)

    def speaks_for(self, at: int) -> bool:
        """Whether what stands at an offset is this tree's to tell."""
        return not self.stretches or any(start <= at < end for start, end in self.stretches)


class Repair(Steps):
    """The mending of one file."""

    def __init__(self, lines: Lines, blanked: Blanked, parser: Parser, errors: Query, known: Macros) -> None:
        super().__init__(lines, blanked, known)
        self.parser = parser
        self.errors = errors
        self.cost = 0.0
        self.kept: list[Edit] = []  # with what stood there before

    def run(self, tree: Tree) -> list[Version]:
        """Mends, and gives the trees to read, the main one first."""
        tree = self._split_groups(tree)
        spots, cost = self._spots(tree)
        tried: set[tuple[str, int]] = set()
        rounds = _ROUNDS if len(self.base) < 1_000_000 and len(spots) < 1000 else 3
        while spots and rounds:
            rounds -= 1
            edits = self._propose(spots, tried)
            if not edits:
                break
            before = [(start, end, bytes(self.blanked.data[start:end])) for _, (start, end, _) in edits]
            for _, edit in edits:
                self._apply(edit)
            mended = self._parse()
            left, now = self._spots(mended)
            rows = {row for s in left if s.last - s.first < _FAR for row in range(s.first, s.last + 1)}
            failed = [place for place, (row, _) in enumerate(edits) if row in rows]
            if now >= cost:
                failed = list(range(len(edits)))
            for place in reversed(failed):
                self._apply(before[place])
            if failed:
                mended = self._parse()
                left, now = self._spots(mended)
            undone = set(failed)
            self.kept += [one for place, one in enumerate(before) if place not in undone]
            tree, spots, cost = mended, left, now
        self.cost = cost
        self._account()
        return [Version(tree), *self._alternatives()]

    # Errors

    def _parse(self) -> Tree:
        return self.parser.parse(bytes(self.blanked.data))

    def _row(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def _spots(self, tree: Tree) -> tuple[list[Spot], float]:
        """The errors of a tree, the innermost of nested ones, and how bad they are together."""
        if not tree.root_node.has_error:
            return [], 0.0
        found = trees.captures(self.errors, tree.root_node)
        spots = [
            Spot(n.start_byte, n.end_byte, self._row(n.start_byte), self._row(n.end_byte), n.type * n.is_missing)
            for capture in ("error", "missing")
            for n in found.get(capture, ())
        ]
        spots.sort(key=lambda s: (s.start, -s.end))
        cost, reached = 0.0, -1
        for spot in spots:
            if spot.start >= reached:
                reached = spot.end
                cost += 1 + (spot.end - spot.start) / 200
            else:
                cost += 0.1
        inner = [s for s in spots if s.last - s.first < _FAR]
        return inner or spots, cost

    def _apply(self, edit: Edit) -> None:
        start, end, what = edit
        self.blanked.data[start:end] = what

    # Conditionals

    def _split_groups(self, tree: Tree) -> Tree:
        """Chooses a branch of every group that cuts through brackets."""
        size = len(self.base)
        chosen = [
            g for g in self.lines.groups
            if not g.guard and any(not self._balanced(start, end) for start, end in g.branches(size))
        ]  # fmt: skip
        if not chosen:
            return tree
        before = bytes(self.blanked.data)
        _, cost = self._spots(tree)
        for group in chosen:
            for edit in self._resolve(group):
                self._apply(edit)
        mended = self._parse()
        if self._spots(mended)[1] < cost:
            self.resolved += chosen
            return mended
        self.blanked.data[:] = before
        return tree

    def _balanced(self, start: int, end: int) -> bool:
        depth = {40: 0, 123: 0}
        for match in _BRACKETS.finditer(self.code, start, end):
            sign = match[0][0]
            if sign in depth:
                depth[sign] += 1
            else:
                depth[sign - 1 if sign == 41 else sign - 2] -= 1
                if min(depth.values()) < 0:
                    return False
        return not any(depth.values())

    def _hides(self, group: Group) -> bool:
        """Whether the main tree lacks branches of a group: a choice may have been taken back."""
        return any(
            self.base[start:end].strip() and not self.blanked.data[start:end].strip()
            for start, end in group.branches(len(self.base))[1:]
        )

    def _alternatives(self) -> list[Version]:
        """Trees for the branches that the main tree does not show."""
        size = len(self.base)
        branched = [g for g in self.resolved if self._hides(g)]
        versions = []
        for keep in range(1, max((len(g.branches(size)) for g in branched), default=1)):
            data = bytearray(self.blanked.data)
            shown: list[tuple[int, int]] = []
            for group in branched:
                branches = group.branches(size)
                if keep < len(branches) and not any(a <= branches[0][0] < b for a, b in shown):
                    start, end = branches[0]
                    data[start:end] = to_spaces(data[start:end])
                    start, end = branches[keep]
                    data[start:end] = self.base[start:end]
                    shown.append((start, end))
            versions.append(Version(self.parser.parse(bytes(data)), shown))
        return versions

    # The ladder

    def _propose(self, spots: list[Spot], tried: set[tuple[str, int]]) -> list[tuple[int, Edit]]:
        edits: list[tuple[int, Edit]] = []
        taken: set[int] = set()
        for spot in spots:
            for step in LADDER:
                key = (step.__name__, spot.first)
                if key in tried:
                    continue
                found = [e for e in step(self, spot) if self.blanked.data[e[0] : e[1]] != e[2]]
                if any(not taken.isdisjoint(range(start, end)) for start, end, _ in found):
                    break  # another error's edit may help here too; if not, it is this one's turn next time
                tried.add(key)
                if found:
                    edits += [(spot.first, edit) for edit in found]
                    taken.update(at for start, end, _ in found for at in range(start, end))
                    break
        return edits

    def _account(self) -> None:
        """Notes what was taken out."""
        for start, end, before in self.kept:
            after = self.blanked.data[start:end]
            self.blanked.size += sum(a != b for a, b in zip(before, after, strict=True))
            if after.endswith(b"_") and not before.endswith(b"_"):
                self.blanked.masked.append(start)
            if not after.strip():
                self.blanked.taken.append((start, end))
                if _WORD.fullmatch(before):
                    self.blanked.specifiers[end] = start
