"""The name by which users import what a Python module defines: `torch.nn.Module`, not `torch.nn.modules.module.Module`.

In: what each module offers (`link.pythonoffered`), by path, and the names that documents document. Out: by path the
public names of what the module defines at its top. A module is named by its packages. Whatever it offers is followed to
where it is defined, which gives every path that leads to a definition; the one that the documentation has is taken,
else the one with the best reason: defined or handed on on purpose (`__all__`, a package's own `__init__`, `import x as
x`) before what is only used there, then the shortest. A path through something private is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from concordance.facts.codec import PublicName
from concordance.link.python.exports import SAME, UNUSED, ExportedNames, ReexportedName

_FARTHEST = 40  # modules that a name is handed through: a longer way goes in a circle
_ENDINGS = (".py", ".pyi", ".pyx")
Documented = tuple[str, str, str]  # a document, the module that is the current one there, and a name
Found = tuple[str, str]  # a path, and a name defined there; "" for the module itself
# Why a path is one, best first.
_MEANT, _LISTED, _UNLISTED, _PASSED, _HANDED = range(5)


class _Key(NamedTuple):
    """What tells which of several paths is shown; the least is."""

    private: int
    reason: int
    parts: int
    unlisted: bool
    renamed: bool
    apart: int  # the fewer parts it has in common with where the definition stands
    length: int
    dotted: str
    by: str  # the module that offers it so, or the document that has it


def module_of(path: str, packages: frozenset[str], roots: frozenset[str] = frozenset()) -> str:
    """The dotted name of a Python file; "" where it lies neither in a package nor below a root (`src`), nor in one."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    parts = [] if stem == "__init__" else [stem]
    inner: list[str] = []
    below = (one for one in around(folder) if one in roots and (one == folder or f"/{one}".endswith("/src")))
    outside = next(below, None)
    found = outside is not None
    while folder and folder != outside:
        outer, _, last = folder.rpartition("/")
        if folder in packages:
            found = True
        elif found and outside is None:
            break
        inner.append(last)
        folder = outer
    whole = [*reversed(inner), *parts]
    return ".".join(whole) if found and whole and all(part.isidentifier() for part in whole) else ""


def around(folder: str) -> Iterator[str]:
    """A folder and those that it lies in; the last is the repository's own, ""."""
    yield folder
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def is_private(part: str) -> bool:
    """Whether a part of a dotted name is not meant for others."""
    return part.startswith("_") and not (part.startswith("__") and part.endswith("__"))


def public_names(
    modules: Mapping[str, ExportedNames], documented: Iterable[Documented], aside: frozenset[str], roots: frozenset[str]
) -> dict[str, dict[str, PublicName]]:
    """The public names of what each module defines; those of modules `aside` are only what others hand on. `roots` are
    folders that modules and packages are imported from, whatever lies around them."""
    return _Search(modules, aside, roots).names(documented)


class _Search:
    def __init__(self, modules: Mapping[str, ExportedNames], aside: frozenset[str], roots: frozenset[str]) -> None:
        # Sorted, so that a circle is cut at the same place however its modules came to be known.
        self.modules, self.aside = dict(sorted(modules.items())), aside
        homes = (path.rpartition("/") for path in modules)
        packages = frozenset(folder for folder, _, name in homes if name.partition(".")[0] == "__init__")
        self.dotted = {path: module_of(path, packages, roots) for path in self.modules}
        self.by_dotted: dict[str, str] = {}
        for path, dotted in self.dotted.items():  # a source before its stub
            if dotted:
                self.by_dotted.setdefault(dotted, path)
        self.brought = {path: _by_name(one.brought) for path, one in modules.items()}
        self.exports = {path: self._exports(path) for path in modules}
        self.handed: dict[str, str] = {}  # by private module, the package that hands it on
        self._known: dict[Found, Found | None] = {}

    # --- what modules offer

    def _exports(self, path: str) -> frozenset[str] | None:
        """What a module says that it offers; `*m` stands for what its module `m` does."""
        listed = self.modules[path].exports
        if listed is None:
            return None
        found: set[str] = set()
        for name in listed:
            if not name.startswith("*"):
                found.add(name)
                continue
            inner = self._submodule(path, name[1:].rpartition(".")[2])
            found.update(self.modules[inner].exports or () if inner else ())
        return frozenset(found)

    def _submodule(self, path: str, name: str) -> str:
        """The file of a module in a package, by the package's own file; "" for none."""
        folder, _, last = path.rpartition("/")
        if last.partition(".")[0] != "__init__":
            return ""
        beside = f"{folder}/{name}" if folder else name
        tried = [f"{beside}{slash}{ending}" for slash in ("/__init__", "") for ending in _ENDINGS]
        return next((one for one in tried if one in self.modules), "")

    def found(self, path: str, name: str, far: int = 0) -> Found | None:
        """Where a name that a module offers is defined."""
        key = (path, name)
        if key in self._known:
            return self._known[key]
        if far > _FARTHEST:
            return None
        self._known[key] = None  # a circle offers nothing where it closes
        self._known[key] = found = self._found(path, name, far + 1)
        return found

    def _found(self, path: str, name: str, far: int) -> Found | None:
        module = self.modules[path]
        if name in module.own:
            return path, name
        for one in self.brought[path].get(name, ()):
            there = self._through(one, far)
            if there is not None:
                return there
        if name in module.held:
            return path, name
        for stars in module.stars:
            for other in stars:
                if other in self.modules and self._is_starred(other, name):
                    there = self.found(other, name, far)
                    if there is not None:
                        return there
        inner = self._submodule(path, name)
        return (inner, "") if inner else None

    def _through(self, one: ReexportedName, far: int) -> Found | None:
        for path in one.paths:
            if path in self.modules:
                if not one.of:
                    return path, ""
                there = self.found(path, one.of, far)
                if there is not None:
                    return there
        return None

    def _is_starred(self, path: str, name: str) -> bool:
        exports = self.exports[path]
        return name in exports if exports is not None else not name.startswith("_")

    def _names(self) -> dict[str, set[str]]:
        """All names that each module offers."""
        found = {
            path: {*one.own, *one.held, *self.brought[path]} for path, one in self.modules.items()
        }  # fmt: skip
        into: dict[str, list[str]] = {}
        for path, one in self.modules.items():
            for stars in one.stars:
                for other in stars:
                    if other in self.modules and other != path:
                        into.setdefault(other, []).append(path)
        left = sorted(into)
        while left:
            path = left.pop()
            given = {name for name in found[path] if self._is_starred(path, name)}
            for taker in into.get(path, ()):
                if not given <= found[taker]:
                    found[taker] |= given
                    left.append(taker)
        return found

    # --- which of all paths

    def names(self, documented: Iterable[Documented]) -> dict[str, dict[str, PublicName]]:
        """The public names of what each module defines."""
        called = self._called()
        best, said = _least(self._offered(called)), _least(self._documented(documented, called))
        found: dict[str, dict[str, PublicName]] = {}
        for (path, name), key in sorted({**best, **said}.items()):
            if not key.private or (path, name) in said:
                found.setdefault(path, {})[name] = PublicName(key.dotted, key.by if key.by != path else "")
        for path in self.modules:
            self._as_source(path, found)
        return found

    def _offered(self, called: Mapping[str, str]) -> Iterator[tuple[Found, _Key]]:
        """The paths by which modules offer something, each with where it is defined."""
        for path, names in self._names().items():
            dotted = called.get(path, "")
            if not dotted or path in self.aside:
                continue
            for name in sorted(names - {"__all__"}):
                there = self.found(path, name)
                reason = self._reason(path, name, there) if there is not None and there[1] else None
                if there is not None and reason is not None:
                    yield there, self._key(path, dotted, name, there, reason)
            for name, other in self.modules[path].aliases:
                there = self.found(path, other)
                if there is not None and there[1]:  # what is bound to a variable is seldom meant to be called by it
                    yield there, self._key(path, dotted, name, there, _HANDED)

    def _called(self) -> dict[str, str]:
        """The name of each module: where it is private, that under which a package hands it on."""
        found = dict(self.dotted)
        hidden = {path for path, dotted in found.items() if any(map(is_private, dotted.split(".")))}
        for path in sorted(self.modules, key=lambda one: (self.dotted[one].count("."), one)):
            dotted = self.dotted[path]
            if not dotted or path in hidden or path in self.aside:
                continue
            for name in self.brought[path]:
                there = self.found(path, name)
                if there is None or there[1] or there[0] not in hidden or is_private(name):
                    continue
                if self._reason(path, name, there) is not None and found[there[0]] == self.dotted[there[0]]:
                    found[there[0]] = f"{dotted}.{name}"
                    self.handed[there[0]] = path
        return found

    def _key(self, path: str, dotted: str, name: str, there: Found, reason: int) -> _Key:
        """How good a path is."""
        whole = f"{dotted}.{name}"
        parts = whole.split(".")
        unlisted = name not in (self.exports[path] or ())
        renamed = bool(there[1]) and name != there[1]
        by = self.handed.get(path, path)
        apart = -len({*parts} & {part.strip("_") for part in self.dotted[there[0]].split(".")})
        return _Key(sum(map(is_private, parts)), reason, len(parts), unlisted, renamed, apart, len(whole), whole, by)

    def _reason(self, path: str, name: str, there: Found) -> int | None:
        """Why what a module has under a name may be called so; None where it only uses it."""
        exports = self.exports[path]
        listed = exports is not None and name in exports
        if there[0] == path:
            return _MEANT if listed or exports is None else _UNLISTED
        folder, _, last = path.rpartition("/")
        package = last.partition(".")[0] == "__init__"
        inside = package and (there[0].startswith(f"{folder}/") or not folder)
        flags = 0
        for one in self.brought[path].get(name, ()):
            flags |= one.flags
        starred = name not in self.brought[path]
        if inside and (listed or starred or flags & (SAME | UNUSED)):
            return _MEANT
        if listed:
            return _LISTED
        if inside and exports is None:
            return _UNLISTED
        if flags & SAME or (package and (flags & UNUSED or starred)):
            return _PASSED
        return _HANDED if starred or (flags & UNUSED and exports is None) else None

    def _documented(self, documented: Iterable[Documented], called: Mapping[str, str]) -> Iterator[tuple[Found, _Key]]:
        """The paths that documents have, each with what it leads to."""
        by_name = {**{dotted: path for path, dotted in called.items() if dotted}, **self.by_dotted}
        for by, module, name in documented:
            for dotted in [f"{module}.{name}", name] if module else [name]:
                split = self._split(dotted.split("."), by_name)
                if split is not None:
                    there, whole = split
                    parts = whole.split(".")
                    hidden, renamed = sum(map(is_private, parts)), parts[-1] != there[1]
                    yield there, _Key(hidden, _MEANT, len(parts), False, renamed, 0, len(whole), whole, by)
                    break

    def _split(self, parts: Sequence[str], by_name: Mapping[str, str]) -> tuple[Found, str] | None:
        """What the shortest beginning of a dotted name that is no module leads to."""
        for count in range(len(parts) - 1, 0, -1):
            path = by_name.get(".".join(parts[:count]))
            if path is not None:
                there = self.found(path, parts[count])
                return (there, ".".join(parts[: count + 1])) if there is not None and there[1] else None
        return None

    def _as_source(self, path: str, found: dict[str, dict[str, PublicName]]) -> None:
        """Calls what a stub declares as its source does."""
        source = f"{path.removesuffix('.pyi')}.py"
        if path.endswith(".pyi") and source in self.modules:
            known, one = found.get(source, {}), self.modules[path]
            same = {name: known[name] for name in (*one.own, *one.held) if name in known}
            found.setdefault(path, {}).update(same)


def _least(rows: Iterable[tuple[Found, _Key]]) -> dict[Found, _Key]:
    """The best of each."""
    found: dict[Found, _Key] = {}
    for there, key in rows:
        if there not in found or key < found[there]:
            found[there] = key
    return found


def _by_name(rows: Iterable[ReexportedName]) -> dict[str, list[ReexportedName]]:
    found: dict[str, list[ReexportedName]] = {}
    for one in rows:
        found.setdefault(one.name, []).append(one)
    return found
