"""Finds C-family names whose target may change because of includes, `using` or namespaces.

In: the files before and after an update. Out: names, or None if no list of names is enough. What a file sees depends on
what its headers include: when a file becomes visible to another, or stops being so, its names change their meaning
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from concordance.base.kinds import C_FAMILY
from concordance.base.model import Target
from concordance.link.cfamily.include_graph import IncludeGraph, included_files, is_header
from concordance.link.cfamily.linker import CFamilyLinker
from concordance.link.cfamily.scopes import NAMESPACE, SHIFT, CScope
from concordance.link.interface_digest import FileInterface, FileVersion, Path, build_interface
from concordance.link.world import LinkWorld


def changed_c_names(
    world: LinkWorld, c: Callable[[], CFamilyLinker], old: Mapping[str, FileVersion], new: Mapping[str, FileVersion],
    retargeted: Mapping[int, tuple[Target, ...]],
) -> set[str] | None:  # fmt: skip
    """Return the names; None if the whole family has to be linked."""
    paths = [p for p in {*old, *new} if any(p in some and some[p].file.language in C_FAMILY for some in (old, new))]
    retargeted = {number: targets for number, targets in retargeted.items() if world.files[number].language in C_FAMILY}
    if not paths and not retargeted:
        return set()
    empty = FileInterface()
    changed: set[str] = set()
    for path in paths:
        was, now = (some[path].interface if path in some else empty for some in (old, new))
        if was.inline_namespaces != now.inline_namespaces:
            return None
        if was.directives != now.directives:
            number = world.number.get(path)
            if number is None or number in c().includes.headers:
                return None
            changed |= was.names.keys() | now.names.keys()
        spaces = _namespaces(was) ^ _namespaces(now)
        changed |= _relevant_namespaces(world, c(), path, spaces) if spaces else set()
    if retargeted or any(_includes(old.get(path)) != _includes(new.get(path)) for path in paths):
        seen = _names_changing_visibility(world, c().includes, old, new, retargeted)
        return None if seen is None else changed | seen
    return changed


def _includes(version: FileVersion | None) -> list[str] | None:
    return [target.paths[0] for target in version.targets if target.paths] if version is not None else None


def _namespaces(interface: FileInterface) -> set[tuple[str, ...]]:
    """Return the namespaces that a file opens, each by its full path."""
    namespaces: set[tuple[str, ...]] = set()
    for rows in interface.names.values():
        for row in rows:
            if len(row) > 3 and row[1] == NAMESPACE:
                namespaces.update(_enclosing_namespaces(row[0]))
    return namespaces


def _enclosing_namespaces(path: Path) -> Iterator[tuple[str, ...]]:
    parts = [part for name, _ in path for part in name.split("::") if name != "(anonymous)"]
    for end in range(1, len(parts) + 1):
        yield tuple(parts[:end])


def _relevant_namespaces(world: LinkWorld, c: CFamilyLinker, path: str, namespaces: set[tuple[str, ...]]) -> set[str]:
    """Return the names of the changed namespaces of a file that matter to other files.

    A namespace matters if the file is included, or is the first or only one to open it.
    """
    number = world.number.get(path)
    names: set[str] = set()
    for namespace in namespaces:
        scope: CScope | None = c.table.root
        for part in namespace[:-1]:
            scope = scope.inner_scopes.get(part) if scope is not None else None
        entry = scope.members.get(namespace[-1]) if scope is not None else None
        others = [code >> SHIFT for code in entry.codes if code >> SHIFT != number] if entry is not None else []
        first = min((world.files[other].path for other in others), default="")
        if not others or path < first or is_header(path) or number is None or number in c.includes.headers:
            names.add(namespace[-1])
    return names


def _names_changing_visibility(
    world: LinkWorld, current: IncludeGraph, old: Mapping[str, FileVersion], new: Mapping[str, FileVersion],
    retargeted: Mapping[int, tuple[Target, ...]],
) -> set[str] | None:  # fmt: skip
    """Return the names in files that become visible to others, or stop being so; None if no list is enough."""
    removed = [path for path in old if path not in world.number]
    numbers = {**world.number, **{path: len(world.files) + place for place, path in enumerate(removed)}}
    included = dict(current.included)
    for path in {*old, *new}:
        included.pop(numbers[path], None)
    for path, version in old.items():
        if version.file.language in C_FAMILY:
            included[numbers[path]] = included_files(version.targets, numbers)
    for number, targets in retargeted.items():
        included[number] = included_files(targets, numbers)
    file_bits = range(len(numbers))  # in both graphs, the bit of a file is at its number, so that they can be compared
    headers = (numbers[path] for path in numbers if numbers[path] in included and is_header(path))
    was = IncludeGraph(included, headers, len(file_bits), file_bits)
    same = IncludeGraph(current.included, current.headers, len(file_bits), file_bits)
    bits = 0
    for number in included.keys() & current.included.keys():
        bits |= was.visible_files(number) ^ same.visible_files(number)
    names: set[str] = set()
    by_number = {number: path for path, number in numbers.items()}
    differ = was.headers ^ current.headers
    while bits:
        lowest = bits & -bits
        differ.add(lowest.bit_length() - 1)
        bits ^= lowest
    for number in differ:
        path = by_number[number]
        versions = [old[path].interface] if path in old else []
        if number < len(world.files) and world.files[number].language in C_FAMILY:
            file = world.load(number)
            versions.append(build_interface(file, world.targets(file)))
        for interface in versions:
            if interface.directives:
                return None
            names |= interface.names.keys()
    return names
