"""The public name of a definition: the shortest dotted path by which users can import it.

In: a symbol. Out: `torch.nn.Module` for what `torch/nn/modules/module.py` defines as `Module`; the qualified name if it
has no public name, and in languages without such paths. Look-ups are recorded under the file's path.
"""

from __future__ import annotations

from concordance.facts.codec import PUBLIC, PublicName, PublicNames
from concordance.facts.read import SymbolPlace
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.answers import full_name, split_key
from concordance.query.index.repository import Index


@shared_until(ANY_UPDATE)
def public_names(index: Index) -> PublicNames:
    """Return all public names; pages that look names up in it must record `PUBLIC` with the file's path."""
    return PublicNames(index.facts.analysis_result(PUBLIC))


def find_public_name(index: Index, path: str, key: str) -> PublicName:
    """Return the public name of a symbol and the evidence for it; an empty one if it has none."""
    index.reads.note(PUBLIC, path)
    return public_names(index).of(path, split_key(key))


def public_name(index: Index, path: str, key: str) -> str:
    """Return the public name of a symbol; "" if it has none."""
    return find_public_name(index, path, key).dotted


def display_name(index: Index, place: SymbolPlace) -> str:
    """Return the name to show for a symbol: its public name, else its qualified name; for a file, its path."""
    return public_name(index, place.path, place.key) or full_name(place)
