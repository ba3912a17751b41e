"""What Python calls the modules, classes and tables that C and C++ code holds in its hands.

In: the ends that `extract/pybound.py` stated. Out: for a root of a file ("the module that is described here", "the
parameter that others fill", "the type that owns this table") the dotted names that it has in Python, each with how sure
that is. A root is followed from table to type, from type to the module that it is added to, from a parameter to the
calls that fill it, up to a name that is written out; where that way is lost, no name is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from concordance.model import Trust

from .crossing import Crossing, Row, Stated

C_FAMILY = ("c", "cpp", "cuda", "objc", "objcpp")
STUBS = (".pyi", ".pyi.in")
_DEEPEST = 12  # steps from a table to a module


class Named(NamedTuple):
    """A dotted name of Python, and how sure it is."""

    name: str
    trust: Trust


def more(one: Stated, key: str) -> str:
    """What an end says under a key."""
    return next((value for word, value in one.end.more if word == key), "")


class Modules:
    """The names of roots."""

    def __init__(self, crossing: Crossing) -> None:
        self._crossing = crossing
        self.stated = [*crossing.ends("cpython"), *crossing.ends("pybind")]
        self._known: dict[tuple[int, str], tuple[Named, ...]] = {}
        self._modules: dict[tuple[int, str], Stated] = {}
        self.types: dict[tuple[int, str], Stated] = {}
        self._types_named: dict[str, list[Stated]] = {}
        self._tables: dict[str, set[int]] = {}  # the files that have a table of a name
        self._initialises: dict[int, list[Stated]] = {}
        for one in self.stated:
            self._note(one)
        self._gives = {
            one.file.base + 1 + int(more(one, "symbol")): one for one in self.stated if one.end.says == "gives"
        }

    def _note(self, one: Stated) -> None:
        says, root = one.end.says, more(one, "in")
        if says == "module":
            self._modules[one.file.id, root] = one
        elif says == "type":
            had = self.types.get((one.file.id, root))
            if had is None or not had.end.name:
                self.types[one.file.id, root] = one
            self._types_named.setdefault(root, []).append(one)
        elif says == "initialises":
            self._initialises.setdefault(one.file.id, []).append(one)
        if root.startswith("table:"):
            self._tables.setdefault(root, set()).add(one.file.id)

    @cached_property
    def _handed(self) -> dict[tuple[int, str], list[Stated]]:
        """Who hands something to a parameter of a function."""
        found: dict[tuple[int, str], list[Stated]] = {}
        for one in self.stated:
            if one.end.says == "hands":
                for target in self._functions(one):
                    found.setdefault((target, more(one, "argument")), []).append(one)
        return found

    def _functions(self, one: Stated) -> list[int]:
        """The functions that a name means, or the only one in the repository that carries it."""
        targets = [meant.target for meant in self._crossing.meant(one) if meant.trust > Trust.CANDIDATE]
        if targets:
            return targets
        named = [p for p in self._crossing.named(one.end.name, C_FAMILY) if p.kind == "function" and not p.declaration]
        return [named[0].id] if len(named) == 1 else []

    @cached_property
    def _used(self) -> dict[tuple[int, str], list[Stated]]:
        """Who uses a table, by the file and the root of the table."""
        found: dict[tuple[int, str], list[Stated]] = {}
        for one in self.stated:
            if one.end.says == "used":
                for key in self._table(one):
                    found.setdefault(key, []).append(one)
        return found

    def _table(self, one: Stated, name: str = "") -> list[tuple[int, str]]:
        """The tables that a name means where it stands."""
        root = f"table:{name or one.end.name}"
        files = self._tables.get(root, set())
        if one.file.id in files:
            return [(one.file.id, root)]
        for meant in self._crossing.meant(one):
            if meant.target in self._gives:
                given = self._gives[meant.target]
                return self._table(given) if given is not one else []
            row = self._crossing.file_with(meant.target)
            if row.id in files:
                return [(row.id, root)]
        return [(next(iter(files)), root)] if len(files) == 1 else []

    @cached_property
    def _added(self) -> dict[tuple[int, str], list[Stated]]:
        """Where a type or a module is added to another, by its file and root."""
        found: dict[tuple[int, str], list[Stated]] = {}
        for one in self.stated:
            if one.end.says == "adds":
                value = more(one, "value")
                key = self.type_of(one) if value.startswith("type:") else (one.file.id, value) if value else None
                if key is not None:
                    found.setdefault(key, []).append(one)
        return found

    def type_of(self, one: Stated) -> tuple[int, str] | None:
        """The file and root of the type that an addition adds."""
        root = more(one, "value")
        if (one.file.id, root) in self.types:
            return one.file.id, root
        for meant in self._crossing.meant(one):
            row = self._crossing.file_with(meant.target)
            if (row.id, root) in self.types:
                return row.id, root
        named = self._types_named.get(root, [])
        return (named[0].file.id, root) if len({other.file.id for other in named}) == 1 else None

    def of(self, one: Stated) -> tuple[Named, ...]:
        """The names of what an end's name hangs on, with its path there."""
        path = more(one, "path")
        return below(self.root(one.file, more(one, "in")), path)

    def root(self, file: Row, root: str, deep: int = 0) -> tuple[Named, ...]:
        """The names of a root of a file."""
        key = (file.id, root)
        known = self._known.get(key)
        if known is None:
            if deep > _DEEPEST:
                return ()
            self._known[key] = ()  # a root that leads back to itself has no name by that
            known = self._known[key] = _best(self._named(file, root, deep + 1))
        return known

    def _named(self, file: Row, root: str, deep: int) -> Iterable[Named]:
        kind, _, name = root.partition(":")
        if kind == "is":
            return [Named(name, Trust.EXACT)]
        if kind == "init":
            return self._extension(name, file)
        if kind == "def":
            return self._described(file, root, deep)
        if kind == "type":
            return self._type(file, root, deep)
        if kind == "table":
            return [n for one in self._used.get((file.id, root), ()) for n in self._from(one, deep)]
        place, _, argument = name.partition(":")
        identity = file.base + 1 + int(place or -1)
        return [n for one in self._handed.get((identity, argument), ()) for n in self._from(one, deep)]

    def _from(self, one: Stated, deep: int) -> tuple[Named, ...]:
        return below(self.root(one.file, more(one, "in"), deep), more(one, "path"))

    def _described(self, file: Row, root: str, deep: int) -> Iterable[Named]:
        """The names of a module that a PyModuleDef describes."""
        one = self._modules.get((file.id, root))
        if one is None:
            return []
        if "." in one.end.name:
            return [Named(one.end.name, Trust.EXACT)]
        adding = self._added.get((file.id, root), ())
        added = [named for other in adding for named in below(self._from(other, deep), other.end.name)]
        if added:
            return added
        makers = self._initialises.get(file.id, [])
        name = one.end.name or (makers[0].end.name if len(makers) == 1 else "")
        return self._extension(name, file) if name else []

    def _type(self, file: Row, root: str, deep: int) -> Iterable[Named]:
        one = self.types.get((file.id, root))
        own = one.end.name if one is not None else ""
        found: list[Named] = []
        for other in self._added.get((file.id, root), ()):
            found += below(self._from(other, deep), other.end.name or own.rpartition(".")[2])
        if "." in own:
            found.append(Named(own, Trust.EXACT))
        if not found and own:
            found.append(Named(own, Trust.UNIQUE_NAME))
        return found

    # Extensions: modules that are files of their own

    def _extension(self, name: str, file: Row) -> Iterable[Named]:
        """The full name of an extension module that calls itself by the last part of it."""
        if "." in name:
            return [Named(name, Trust.EXACT)]
        built = self._built
        sources = {full for full, source in built if source and file.path.endswith(source)}
        if len(sources) == 1:
            return [Named(next(iter(sources)), Trust.VIA_IMPORT)]
        said = {full for full, _ in built if full.rpartition(".")[2] == name} or self._imported.get(name, set())
        if len(said) > 1:
            near = {full: sum(part in file.path.split("/") for part in full.split(".")[:-1]) for full in said}
            most = max(near.values())
            said = {full for full in said if near[full] == most}
        if len(said) == 1:
            return [Named(next(iter(said)), Trust.VIA_IMPORT)]
        return [] if name.isupper() else [Named(name, Trust.UNIQUE_NAME)]

    @cached_property
    def _built(self) -> list[tuple[str, str]]:
        """The extensions that build files name, with each source."""
        found = []
        for one in self._crossing.ends("extension", "builds"):
            home = one.file.path.rpartition("/")[0]
            sources = [value for word, value in one.end.more if word == "source"]
            for source in sources or [""]:
                path = f"{home}/{source}" if home and source else source
                found.append((one.end.name, path.replace("/./", "/").removeprefix("./")))
        return found

    @cached_property
    def _imported(self) -> dict[str, set[str]]:
        """Modules that Python imports or has a stub of, by their last part."""
        found: dict[str, set[str]] = {}
        for row in self._crossing.files:
            if row.path.endswith(STUBS):
                name = self.stub(row)
                found.setdefault(name.rpartition(".")[2], set()).add(name)
        for name in self._crossing.asks:
            parts = name.split(".")
            for place in range(1, len(parts)):
                found.setdefault(parts[place], set()).add(".".join(parts[: place + 1]))
        return found

    def stub(self, row: Row) -> str:
        """The module that a stub, or the template of one, is of."""
        return self._crossing.module_of(row.path.removesuffix(".in"))


def below(names: Iterable[Named], path: str) -> tuple[Named, ...]:
    """The names of what hangs on others under a path."""
    return tuple(Named(f"{one.name}.{path}", one.trust) for one in names) if path else tuple(names)


def _best(names: Iterable[Named]) -> tuple[Named, ...]:
    """Each name once, the surest first, then the first found."""
    found: dict[str, Trust] = {}
    for one in names:
        found[one.name] = max(one.trust, found.get(one.name, one.trust))
    return tuple(Named(name, trust) for name, trust in sorted(found.items(), key=lambda item: -item[1]))
