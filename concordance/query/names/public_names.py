"""What users call a definition: the shortest path by which they import it, where it has one.

In: a symbol. Out: `torch.nn.Module` for what `torch/nn/modules/module.py` defines as `Module`; its qualified name where
nothing public leads to it, and in languages that have no such paths. Each look is heard by the file.
"""

from __future__ import annotations

from concordance.facts.codec import PUBLIC, PublicName, PublicNames
from concordance.facts.read import Place
from concordance.query.answers import clean, full_name
from concordance.query.index.repository import Index
from concordance.query.index.updates.reads import shared


@shared
def public_names(index: Index) -> PublicNames:
    """All public names; whoever looks into it for a page is heard by `PUBLIC` and the file."""
    return PublicNames(index.facts.passed(PUBLIC))


def public(index: Index, path: str, key: str) -> PublicName:
    """The public name of a symbol, and who says so; an empty one where it has none."""
    index.reads.note(PUBLIC, path)
    return public_names(index).of(path, clean(key))


def public_name(index: Index, path: str, key: str) -> str:
    """The public name of a symbol; "" where it has none."""
    return public(index, path, key).dotted


def called(index: Index, place: Place) -> str:
    """What a symbol is called: by its public name, else by its qualified name; a file by its path."""
    return public_name(index, place.path, place.key) or full_name(place)
