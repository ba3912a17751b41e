"""Turns names in an author's comments into links, by what the file and the repository define.

In: a file and a name as written (`Module`, `torch.nn.Module`, `~.forward`). Out: a link, or None if the target is not
certain. Names of the file itself come first, then names that it imports or uses.
"""

from __future__ import annotations

from functools import cached_property

from concordance.base.blocks import Ref
from concordance.base.model import Trust
from concordance.query.answers import split_key
from concordance.query.index.file_model import FileModel


class MentionedNames:
    """The names that the comments of a file may refer to."""

    def __init__(self, about: FileModel) -> None:
        self.about = about

    @cached_property
    def _own(self) -> dict[str, int]:
        """The file's own definitions, by name and by qualified name; the first of several."""
        found: dict[str, int] = {}
        for place, symbol in enumerate(self.about.symbols):
            found.setdefault(symbol.name, place)
            if symbol.parent >= 0:
                found.setdefault(".".join(split_key(symbol.key)), place)
        return found

    @cached_property
    def _used(self) -> dict[str, int]:
        """What the file uses of others, by name; 0 if the name is ambiguous."""
        found: dict[str, int] = {}
        for inside in self.about.uses.values():
            for use in inside.values():
                if use.trust >= Trust.VIA_IMPORT and not self.about.is_own(use.id):
                    name = self.last(use.id)
                    found[name] = use.id if found.get(name, use.id) == use.id else 0
        return found

    def last(self, identity: int) -> str:
        """Return the last part of a symbol's name; "" for a file."""
        key = self.about.index.keys[identity]
        return split_key(key)[-1] if key else ""

    def ref(self, name: str) -> Ref | None:
        """Return a link to what a name refers to; None if that is not certain."""
        bare = name.strip().lstrip("~!.").removesuffix("()").replace("::", ".")
        if not bare:
            return None
        place = self._own.get(bare)
        if place is not None:
            return self.about.own(place, name)
        parts = bare.split(".")
        place = self._own.get(".".join(parts[-2:])) if len(parts) > 1 else None
        if place is not None:
            return self.about.own(place, name)
        identity = self._used.get(parts[-1])
        if identity and self._fits(identity, parts):
            return self.about.ref(identity)._replace(label=name)
        return None

    def _fits(self, identity: int, parts: list[str]) -> bool:
        """True if the qualifier of a name agrees with where it is defined: `nn.Module` with torch/nn/…."""
        if len(parts) == 1:
            return True
        index = self.about.index
        around = {*split_key(index.keys[identity])[:-1], *index.path_of(identity).rpartition(".")[0].split("/")}
        return parts[-2] in around
