"""Classes drawn: what they extend stands left of them, what extends them right.

In: classes by their ids, with the bases and heirs of each. Out: a diagram, or nothing where there is too little to
draw, or so much that nobody could read it: the page says all of it in words, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from concordance.base.blocks import Block, Graph, Node, Ref, Text, counted

_MOST = 40  # boxes
_HEIRS = 8  # of one class by name; more are counted


WORDS = "An arrow leads from a class to one that extends it."


def class_tree(
    about: Iterable[int], bases: Mapping[int, Sequence[int]], heirs: Mapping[int, Sequence[int]],
    ref: Callable[[int], Ref],
) -> list[Block]:  # fmt: skip
    """The kin of some classes; those that it is about are marked. `ref` says what a class is called, and where it
    leads. Nothing where it is not worth drawing."""
    marked = dict.fromkeys(about)
    edges: dict[tuple[str, str], None] = {}
    more: dict[str, str] = {}  # boxes for those that are only counted
    known: dict[int, None] = {}
    for one in {**marked, **dict.fromkeys(bases)}:
        below = heirs.get(one, ())
        named = below if len(below) <= _HEIRS else [heir for heir in below if heir in marked]
        if len(named) < len(below):
            box, left = f"below {one}", counted(len(below) - len(named), "subclass", "subclasses")
            more[box] = f"{left} more" if named else left
            edges[str(one), box] = None
            known[one] = None
        for base, heir in [*((base, one) for base in bases.get(one, ())), *((one, heir) for heir in named)]:
            edges[str(base), str(heir)] = None
            known |= {base: None, heir: None}
    if len(edges) < 2 or len(known) + len(more) > _MOST:
        return []
    links = {one: ref(one) for one in known}
    nodes = [Node(str(one), links[one].label, "", one in marked, links[one]) for one in known]
    nodes += [Node(box, words) for box, words in more.items()]
    return [Graph(nodes, [(base, heir, "") for base, heir in edges]), Text([WORDS])]
