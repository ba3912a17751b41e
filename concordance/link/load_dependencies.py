"""Which files a file needs when it is loaded: its imports and includes, without those that wait.

In: a linked file. Out: the ids of the files. An import inside of a function waits until the function is called; one
under `TYPE_CHECKING`, of types alone or in a stub is never run; one under `__name__ == "__main__"` is run only where
nobody imports the file. `from a import b` needs `b` where that is a file, else `a`. Languages whose files see one
another without being named (the files of a package of Go or Java) have none.
"""

from __future__ import annotations

from concordance.base.model import Import, Op
from concordance.link.world import Found, Loaded, World

BY_FILE = frozenset((
    "python", "cython", "c", "cpp", "cuda", "objc", "objcpp", "javascript", "typescript", "proto", "shell", "starlark",
))  # fmt: skip
_WAITS = frozenset(("function", "lambda"))
_NEVER = ("TYPE_CHECKING", "__name__")


def loaded(world: World, file: Loaded, found: list[Found]) -> list[int]:
    """The ids of the files that one needs, in the order of its imports."""
    if file.language not in BY_FILE or not file.flow.imports or file.path.endswith(".pyi"):
        return []
    named: dict[int, int] = {}
    for row in found:
        if file.op[row.use] == Op.IMPORT:
            named.setdefault(file.left[row.use], row.target)
    ids: dict[int, None] = {}
    for place, (one, target) in enumerate(zip(file.flow.imports, world.targets(file), strict=True)):
        if not target.paths or _waits(file, one):
            continue
        number = world.number.get(target.paths[0])
        if place in named and one.name:
            owner, symbol = world.owner(named[place])
            number = owner.number if symbol < 0 else number
        if number is not None and number != file.number:
            ids[world.files[number].base] = None
    return list(ids)


def _waits(file: Loaded, one: Import) -> bool:
    if one.form == "type" or any(word in one.condition for word in _NEVER):
        return True
    scope = one.scope
    while scope > 0:
        if file.flow.scope_kind[scope] in _WAITS:
            return True
        scope = file.scope_parent[scope] - 1
    return False
