"""The members that a C-family type has, through base classes and through classes that act as pointers.

In: types, and what expressions name. Out: members, each with the type that has it. It also keeps the answers: one that
is needed to find itself is found without, and what was found on the way is asked for again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from concordance.model import Given

from .chomes import MASK, SHIFT, Entry, Home, Sight, Type
from .coutside import POINTERS, Outside
from .creach import Reach
from .cscopes import Table
from .cviews import Start, View
from .world import World

_POINTERS = 4  # that lead to one another before there is the member
_MOST_DROPPED = 2000
_BUSY: list[Type] = []
_BUSY_MEMBER: tuple[Entry, Type] = (Entry(Home("", None, False), "", 0), ())


class Members(ABC):
    """Finds members; what names mean, and of which type a value is, is for others to say."""

    def __init__(self, world: World, table: Table, reach: Reach) -> None:
        self.world, self.table, self.reach = world, table, reach
        self.outside = Outside()
        self.views: dict[int, View] = {}
        self.active = 0  # questions that are being answered, each for the sake of the one before
        self.cuts = 0  # how often an answer was needed to find itself
        self.dropped = 0  # answers of the present outermost question that were not kept

    def view(self, number: int) -> View:
        """A file's view."""
        found = self.views.get(number)
        if found is None:
            homes = self.table.homes.get(number) or [self.table.root]
            found = self.views[number] = View(self.world.load(number), homes, self.reach.seen(number))
        return found

    def leave(self, view: View) -> None:
        """Forgets what was found out of a file that nobody includes: it is seldom asked for again."""
        if view.number not in self.reach.headers:
            self.views.pop(view.number, None)

    @abstractmethod
    def named(self, view: View, expression: int) -> Sight | None:
        """What an expression names."""

    @abstractmethod
    def type_named(self, view: View, expression: int) -> Type | None:
        """The type that an expression names."""

    @abstractmethod
    def start(self, view: View, scope: int) -> Start:
        """Where a scope's names are looked up."""

    def symbols(self, entry: Entry) -> Iterator[tuple[View, int]]:
        """The symbols of an entry, each with its file's view."""
        for code in entry.codes:
            yield self.view(code >> SHIFT), code & MASK

    def keeps(self, before: int) -> bool:
        """Whether an answer holds for good. One that was found without another that it is needed for would differ if
        it were asked for first; it is kept only as the outermost, or where finding it again costs too much."""
        if not self.active:
            self.dropped = 0
            return True
        if self.cuts == before or self.dropped > _MOST_DROPPED:
            return True
        self.dropped += 1
        return False

    # --- members -----------------------------------------------------------------------------

    def find(self, owner: Type, name: str) -> tuple[Entry, Type] | None:
        """A member of a type, through its bases and through a pointer that is a class; and whose it is."""
        home, args = owner
        for _ in range(_POINTERS):
            if home is None:
                return None
            entry = home.member(name)
            if entry is not None:
                return entry, (home, args)
            inherited = self.inherited(home, name)
            if inherited is not None:
                return inherited[0], substituted(inherited[1], home, args) or inherited[1]
            if not args or args[0] is None or not self.points(home):
                return None
            home, args = args[0]
        return None

    def points(self, home: Home) -> bool:
        """Whether objects of a class act as pointers."""
        if home.around is None:
            return home.name in POINTERS
        return "operator->" in home.members or self.inherited(home, "operator->") is not None

    def inherited(self, home: Home, name: str) -> tuple[Entry, Type] | None:
        """A member of a class's bases, and the base that has it."""
        known = home.seen
        if name in known:
            if known[name] is not _BUSY_MEMBER:
                return known[name]
            self.cuts += 1
            return None
        self.table.filled.append(home)
        known[name] = _BUSY_MEMBER
        before = self.cuts
        self.active += 1
        found = self._inherited(home, name)
        self.active -= 1
        if self.keeps(before):
            known[name] = found
        else:
            del known[name]
        return found

    def _inherited(self, home: Home, name: str) -> tuple[Entry, Type] | None:
        for base in self.bases(home):
            above, args = base
            if above is None:
                continue
            entry = above.member(name)
            if entry is not None:
                return entry, base
            found = self.inherited(above, name)
            if found is not None:
                return found[0], substituted(found[1], above, args) or found[1]
        return None

    def bases(self, home: Home) -> list[Type]:
        """The bases of a class, as types."""
        if home.bases is not None:
            self.cuts += home.bases is _BUSY
            return home.bases
        self.table.filled.append(home)
        home.bases = _BUSY
        before, found = self.cuts, []
        self.active += 1
        for code in home.codes:
            view = self.view(code >> SHIFT)
            for value in view.file.said(code & MASK, Given.BASE):
                base = self.type_named(view, value)
                if base is not None and base[0] is not home and base not in found:
                    found.append(base)
        self.active -= 1
        home.bases = found if self.keeps(before) else None
        return found


def substituted(found: Type | None, whose: object, args: tuple[Type | None, ...]) -> Type | None:
    """A type with a template's parameters replaced by the arguments it was given."""
    if found is None or not args:
        return found
    if found[0] is None:
        home, place = found[1]
        if home is not whose and home != whose:
            return found
        return args[place] if place < len(args) else None
    return (found[0], tuple(substituted(arg, whose, args) for arg in found[1])) if found[1] else found
