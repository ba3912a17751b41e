"""Dispatch stubs: a call of a stub runs the kernel that is registered under it for the device.

In: definitions and declarations of stubs, registrations, calls. Out: a row from each function that calls a stub to each
of the stub's kernels, and one from each registration to its kernel. The stub itself has no symbol, because a macro
defines it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.model import Bridge, Kind, Role, Trust
from concordance.link.bridge_context import BridgeContext, LinkedName, StatedEnd
from concordance_torch.link.kernels import Kernels

VERBS = {"stub": ("is implemented by", "implements")}

_SAYS = "stub"
_NUMBER = re.compile(r"\+\d+$")


def join(context: BridgeContext) -> Iterator[Bridge]:
    """Join stubs with callers and kernels."""
    scopes = _Scopes(context)
    kernels = context.once(Kernels)
    filled: dict[tuple[str, ...], list[tuple[StatedEnd, LinkedName, str]]] = {}
    for stated in context.ends("stubs", "registers", "defines"):
        if stated.end.says == "defines":
            yield stated.to(0, Trust.EXACT, "defined here")._replace(says=_SAYS)
            continue
        stub = scopes.stub(stated)
        targets = _kernel(context, kernels, stated) if stub else []
        for target in targets:
            filled.setdefault(stub, []).append((stated, target, _device(stated)))
            yield _row(stated, target, _device(stated), stated, "")
        if stub and not targets:
            yield _row(
                stated, LinkedName(0, Trust.EXACT, "no definition of this name found"), _device(stated), stated, ""
            )
    for stated in context.ends("stubs", "calls"):
        kernels_of = filled.get(scopes.stub(stated), [])
        place = context.symbol(stated.id) if kernels_of else None
        runs = place is not None and place.kind in (Kind.FUNCTION, Kind.METHOD)  # not a namespace, or a table
        for other, kernel, key in kernels_of:
            yield _row(stated, kernel, key, other, Role.CALL if runs else Role.READ)


class _Scopes:
    """Distinguishes stubs of one name by the namespaces in which they are defined."""

    def __init__(self, context: BridgeContext) -> None:
        self._context = context
        self._namespaces: dict[str, set[tuple[str, ...]]] = {}
        for stated in context.ends("stubs", "declares", "defines"):
            self._namespaces.setdefault(stated.end.name, set()).add(self._enclosing_namespaces(stated))

    def _enclosing_namespaces(self, stated: StatedEnd) -> tuple[str, ...]:
        place = self._context.symbol(stated.id)
        return tuple(_NUMBER.sub("", part) for part in place.key.split(".")) if place else ()

    def stub(self, stated: StatedEnd) -> tuple[str, ...]:
        """Return the stub that a name refers to at its place, as namespaces and name; () if there is none."""
        name, namespaces = stated.end.name, self._namespaces.get(stated.end.name, set())
        if not namespaces:
            return ()
        if len(namespaces) == 1:
            return (*min(namespaces), name)
        within = tuple(part for part in dict(stated.end.more).get("within", "").split("::") if part)
        around = self._enclosing_namespaces(stated)
        for depth in range(len(around), -1, -1):
            if (*around[:depth], *within) in namespaces:
                return (*around[:depth], *within, name)
        return ()


def _row(stated: StatedEnd, target: LinkedName, key: str, registered: StatedEnd, role: str) -> Bridge:
    more = (("key", key), ("kernel", registered.end.text))
    return stated.to(target.target, target.trust, target.by, role=role, more=more)._replace(says=_SAYS)


def _kernel(context: BridgeContext, kernels: Kernels, stated: StatedEnd) -> list[LinkedName]:
    """Return the function that a registration names: the linker's target, or the file's own of that name."""
    targets = [row for row in context.targets_of(stated) if row.target != stated.id]
    if targets:
        return targets
    named = [row for row in context.symbols_named(stated.end.text) if row.path == stated.file.path]
    own = [row for row in named if row.kind == Kind.FUNCTION and not row.declaration]
    if len(own) == 1:
        return [LinkedName(own[0].id, Trust.EXACT, "only definition of this name in the file")]
    return kernels.of(stated.end.text, (("at", "native"),)) if not own else []


def _device(stated: StatedEnd) -> str:
    """Return the device of a registration: from its macro, else from its file."""
    key = dict(stated.end.more).get("key", "")
    if key:
        return key
    if stated.file.language == "cuda" or "/cuda/" in stated.file.path:
        return "CUDA"
    return "MPS" if stated.file.language in ("objc", "objcpp") or "/mps/" in stated.file.path else "CPU"
