"""One C-family file as names are looked up in it.

In: a file's flow. Out: a `View`, which keeps what was found out of its expressions.
"""

from __future__ import annotations

from typing import Any

from concordance.base.model import Op
from concordance.link.cfamily.scopes import SHIFT, Entry, Home, Sight, Type
from concordance.link.world import Loaded

NAME, MEMBER, CALL, ITEM, EACH, PART = (int(op) for op in (Op.NAME, Op.MEMBER, Op.CALL, Op.ITEM, Op.EACH, Op.PART))
OF_TYPE, LOOKUP, SYMBOL, PARAMETER, CAST = (int(op) for op in (Op.OF_TYPE, Op.LOOKUP, Op.SYMBOL, Op.PARAMETER, Op.CAST))

# Kinds of questions: about a file's view and an expression, home or entry (the first five); about a class.
NAMED, TYPE_NAMED, TYPE_OF, NOMINATED, ALIASED, INHERITED, BASES = range(7)
Question = tuple[int, Any, Any]

# Where a scope's names are looked up first, and what `using` in functions adds: whether it names one thing, and what.
Start = tuple[Home, tuple[tuple[bool, int], ...]]


class View:
    """One file."""

    __slots__ = (
        "aliased", "answers", "bound", "directed", "file", "homes", "left", "named", "names", "nominated", "number",
        "op", "right", "scopes", "sees", "starts", "types", "values",
    )  # fmt: skip

    def __init__(self, file: Loaded, homes: list[Home | None], sees: int) -> None:
        self.file, self.homes, self.number = file, homes, file.number
        self.sees = sees  # a bit for each file whose text is part of this one
        self.names, self.op, self.left, self.right, self.bound = file.names, file.op, file.left, file.right, file.values
        self.scopes = len(file.scope_parent)
        self.named: dict[int, Sight | None] = {}  # by expression: what it names
        self.types: dict[int, Type | None] = {}  # … the type it names
        self.values: dict[int, Type | None] = {}  # … the type of its value
        self.starts: dict[int, Start] = {}  # by scope
        self.directed: dict[Home, bool] = {}  # whether `using namespace` has a say in a home
        self.nominated: dict[Home, tuple[Home, ...]] = {}  # what `using namespace` brings into a home
        self.aliased: dict[Entry, Home | None] = {}  # the namespace that `namespace a = b;` means
        # By kind of question.
        self.answers: tuple[dict[Any, Any], ...] = (self.named, self.types, self.values, self.nominated, self.aliased)

    def includes(self, code: int) -> bool:
        """Whether this file sees a symbol."""
        return bool(self.sees >> (code >> SHIFT) & 1)
