"""Layered layout of a diagram: positions of boxes and arrows such that most arrows point the same way.

In: boxes with their sizes and lanes, and arrows between them, some with a label. Out: the centre of each box, and the
points that each arrow passes. This is the method of Sugiyama et al.: arrows that would close a cycle are reversed for
the computation; the longest path to a box gives its layer; boxes are ordered by the mean position of their neighbours,
and then moved towards it as far as the others in their layer allow. The label of an arrow takes a cell in a layer of
its own, just like a box, and so does every place where an arrow crosses a layer, so nothing overlaps. The same diagram
always gets the same layout.

`along` is the direction of the arrows, `aside` the direction across them. A lane is the strip of one group of boxes.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

TURNS = 6  # rounds of ordering; more do not improve diagrams of this size
BESIDE = 12.0  # distance between boxes
PASSING = 10.0  # width of an arrow that crosses a layer
_LANES = 34.0  # distance between groups, with room for their frames and names
_GAP, _WIDEST = 44.0, 96.0  # least and greatest distance between layers
_BEFORE_WORDS, _WIDEST_THERE = 22.0, 64.0  # the same if there are layers of labels
_PULLS = 8  # rounds of moving cells towards their neighbours
_STRAIGHT = 4.0  # weight of keeping a crossing arrow straight, relative to centring a box


class Size(NamedTuple):
    """The size of a box or a label."""

    along: float
    aside: float


class LayoutArrow(NamedTuple):
    """An arrow in layer order; `turned` if it was reversed to avoid a cycle."""

    tail: int
    head: int
    turned: bool


class Cell(NamedTuple):
    """A box, a label, or a place where an arrow crosses a layer."""

    lane: int
    layer: int
    box: int = -1  # number of the box, or -1
    word: int = -1  # number of the arrow whose label is here, or -1


class CellNeighbours(NamedTuple):
    """The neighbours of each cell in the previous and in the next layer."""

    before: list[list[int]]
    behind: list[list[int]]


class Order(NamedTuple):
    """The layers and the order inside them, which do not depend on sizes."""

    cells: list[Cell]  # the boxes first
    layers: list[list[int]]
    joined: CellNeighbours
    ways: list[LayoutArrow]
    chains: list[list[int]]  # the cells of each arrow, from tail to head


class Layout(NamedTuple):
    """The positions of all cells and layers."""

    sizes: list[Size]  # of each cell
    asides: list[float]  # centre of each cell
    starts: list[float]  # of each layer
    ends: list[float]


def assign_layers(
    lanes: Sequence[int], arrows: Sequence[tuple[int, int]], labelled: Sequence[bool], counts: Sequence[float]
) -> Order:
    """Assign boxes, given by their lanes, and arrows to layers, and order them. Arrows from a box to itself are left
    out. `labelled` says which arrows have a label, `counts` how much each matters."""
    row = _sequence(len(lanes), arrows, counts)
    ways: list[LayoutArrow] = []
    words: list[bool] = []
    for (tail, head), word in zip(arrows, labelled, strict=True):
        if tail != head:
            ways.append(LayoutArrow(head, tail, True) if row[tail] > row[head] else LayoutArrow(tail, head, False))
            words.append(word)
    ranks = _ranks(len(lanes), ways, row)
    if any(words):
        ranks = [rank * 2 for rank in ranks]
    cells = [Cell(lane, rank, box) for box, (lane, rank) in enumerate(zip(lanes, ranks, strict=True))]
    chains = _chains(cells, ways, words)
    layers: list[list[int]] = [[] for _ in range(max((cell.layer for cell in cells), default=-1) + 1)]
    for number, cell in enumerate(cells):
        layers[cell.layer].append(number)
    joined = _neighbours(len(cells), chains)
    _untangle(layers, cells, joined)
    return Order(cells, layers, joined, ways, chains)


def compute_layout(order: Order, boxes: Sequence[Size], words: Sequence[Size]) -> Layout:
    """Compute positions from the sizes of boxes and of arrow labels."""
    none = Size(0, 0)
    sizes = [boxes[cell.box] if cell.box >= 0 else words[cell.word] if cell.word >= 0 else none for cell in order.cells]
    asides = _asides(order, sizes)
    return Layout(sizes, asides, *_alongs(order, sizes, asides))


def estimate_size(order: Order, boxes: Sequence[Size], words: Sequence[Size]) -> Size:
    """Estimate the size of the whole, to choose a direction without a full layout."""
    along = aside = 0.0
    for layer in order.layers:
        sizes = [
            boxes[order.cells[cell].box] if order.cells[cell].box >= 0
            else words[order.cells[cell].word] if order.cells[cell].word >= 0 else Size(0, PASSING)
            for cell in layer
        ]  # fmt: skip
        along += max((size.along for size in sizes), default=0.0) + _gaps(order)[0] * 1.6
        aside = max(aside, sum(size.aside + BESIDE for size in sizes))
    return Size(along, aside)


def _sequence(count: int, arrows: Sequence[tuple[int, int]], counts: Sequence[float]) -> list[int]:
    """Return the position of each box in a sequence in which most arrows point forwards: sinks go last, then sources
    first, then the box with the largest surplus of outgoing arrows (Eades, Lin and Smyth)."""
    out = [0.0] * count
    into = [0.0] * count
    near: list[list[tuple[int, int, float]]] = [[] for _ in range(count)]
    for (tail, head), weight in zip(arrows, counts, strict=True):
        if tail != head:
            out[tail] += weight
            into[head] += weight
            near[tail].append((tail, head, weight))
            near[head].append((tail, head, weight))
    left = dict.fromkeys(range(count))
    first: list[int] = []
    last: list[int] = []
    while left:
        ends = next((cell for cell in left if out[cell] <= 0), -1)
        if ends >= 0:
            chosen = ends
            last.append(ends)
        else:
            begins = next((cell for cell in left if into[cell] <= 0), -1)
            chosen = begins if begins >= 0 else max(left, key=lambda cell: out[cell] - into[cell])
            first.append(chosen)
        del left[chosen]
        for tail, head, weight in near[chosen]:
            out[tail] -= weight
            into[head] -= weight
    places = [0] * count
    for place, cell in enumerate([*first, *reversed(last)]):
        places[cell] = place
    return places


def _ranks(count: int, ways: Sequence[LayoutArrow], order: Sequence[int]) -> list[int]:
    """Return the layer of each box: after all boxes with an arrow to it, and close to those it has arrows to."""
    into: list[list[int]] = [[] for _ in range(count)]
    out: list[list[int]] = [[] for _ in range(count)]
    for way in ways:
        into[way.head].append(way.tail)
        out[way.tail].append(way.head)
    row = sorted(range(count), key=lambda cell: order[cell])
    ranks = [0] * count
    for cell in row:
        ranks[cell] = max((ranks[other] + 1 for other in into[cell]), default=0)
    for cell in reversed(row):
        if out[cell] and len(out[cell]) > len(into[cell]):
            ranks[cell] = min(ranks[other] for other in out[cell]) - 1
    used = {rank: place for place, rank in enumerate(sorted(set(ranks)))}
    return [used[rank] for rank in ranks]


def _chains(cells: list[Cell], ways: Sequence[LayoutArrow], words: Sequence[bool]) -> list[list[int]]:
    """Return the cells of each arrow, adding those it crosses. A label is in the middle, in a layer without boxes."""
    chains = []
    for number, (way, word) in enumerate(zip(ways, words, strict=True)):
        first, last, lane = cells[way.tail].layer, cells[way.head].layer, cells[way.tail].lane
        at = (first + last) // 2
        at += 1 - at % 2 if word else 0
        chain = [way.tail]
        for layer in range(first + 1, last):
            chain.append(len(cells))
            cells.append(Cell(lane, layer, word=number if word and layer == at else -1))
        chains.append([*chain, way.head])
    return chains


def _neighbours(count: int, chains: Sequence[Sequence[int]]) -> CellNeighbours:
    neighbours = CellNeighbours([[] for _ in range(count)], [[] for _ in range(count)])
    for chain in chains:
        for cell, other in pairwise(chain):
            neighbours.behind[cell].append(other)
            neighbours.before[other].append(cell)
    return neighbours


# --- order


def _untangle(layers: list[list[int]], cells: Sequence[Cell], joined: CellNeighbours) -> None:
    """Order each layer so that few arrows cross."""
    places = [0.0] * len(cells)
    for layer in layers:
        layer.sort(key=lambda cell: cells[cell].lane)
        for place, cell in enumerate(layer):
            places[cell] = place
    best, fewest, idle = [list(layer) for layer in layers], _crossings(layers, places, joined), 0
    for turn in range(TURNS):
        on = turn % 2 == 0
        near = joined.before if on else joined.behind
        for layer in layers[1:] if on else reversed(layers[:-1]):
            middle = {
                cell: sum(places[other] for other in near[cell]) / len(near[cell]) if near[cell] else places[cell]
                for cell in layer
            }
            layer.sort(key=lambda cell: (cells[cell].lane, middle[cell]))
            for place, cell in enumerate(layer):
                places[cell] = place
        crossings = _crossings(layers, places, joined)
        idle = 0 if crossings < fewest else idle + 1
        if not idle:
            best, fewest = [list(layer) for layer in layers], crossings
        if not fewest or idle > 1:
            break
    layers[:] = best


def _crossings(layers: Sequence[Sequence[int]], places: Sequence[float], joined: CellNeighbours) -> int:
    crossings = 0
    for layer in layers:
        seen: list[float] = []  # ends of the arrows of the previous cells, sorted
        for cell in layer:
            ends = [places[other] for other in joined.behind[cell]]
            for end in ends:
                crossings += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return crossings


# --- places


def _asides(order: Order, sizes: Sequence[Size]) -> list[float]:
    """Return the centre of each cell across the arrows; groups are placed one below the other."""
    cells = order.cells
    asides = [0.0] * len(cells)
    top = 0.0
    for lane in sorted({cell.lane for cell in cells}):
        rows = [[cell for cell in layer if cells[cell].lane == lane] for layer in order.layers]
        rows = [row for row in rows if row]
        _pull(order, lane, rows, sizes, asides)
        inside = [cell for row in rows for cell in row]
        low = min(asides[cell] - _half(sizes[cell]) for cell in inside)
        for one in inside:
            asides[one] += top - low
        top = max(asides[cell] + _half(sizes[cell]) for cell in inside) + _LANES
    return asides


def _pull(order: Order, lane: int, rows: list[list[int]], sizes: Sequence[Size], asides: list[float]) -> None:
    """Move the cells of a lane towards their neighbours, alternating between the two sides."""
    cells, joined = order.cells, order.joined
    inside = [cell for row in rows for cell in row]
    before = {cell: [other for other in joined.before[cell] if cells[other].lane == lane] for cell in inside}
    behind = {cell: [other for other in joined.behind[cell] if cells[other].lane == lane] for cell in inside}
    both = {cell: before[cell] + behind[cell] for cell in inside}
    for cell in inside:
        if cells[cell].box < 0:  # crossing arrows are kept straight from the beginning
            before[cell] = behind[cell] = both[cell]
    gaps = [_offsets(row, sizes) for row in rows]
    weights = [[1.0 if cells[cell].box >= 0 else _STRAIGHT for cell in row] for row in rows]
    for row, offsets in zip(rows, gaps, strict=True):
        _settle(row, asides, [0.0] * len(row), offsets, [1.0] * len(row))
    for turn in range(_PULLS):
        near = both if turn >= _PULLS - 2 else behind if turn % 2 else before
        for number in reversed(range(len(rows))) if turn % 2 else range(len(rows)):
            wished = []
            for cell in rows[number]:
                others = near[cell]
                wished.append(sum([asides[other] for other in others]) / len(others) if others else asides[cell])
            _settle(rows[number], asides, wished, gaps[number], weights[number])


def _half(size: Size) -> float:
    return max(size.aside, PASSING) / 2


def _offsets(row: Sequence[int], sizes: Sequence[Size]) -> list[float]:
    """Return the distance of each cell of a layer from the first if they are packed as closely as allowed."""
    offsets, at = [], 0.0
    for place, cell in enumerate(row):
        if place:
            before = sizes[row[place - 1]]
            between = BESIDE if before.aside and sizes[cell].aside else BESIDE / 2
            at += _half(before) + _half(sizes[cell]) + between
        offsets.append(at)
    return offsets


def _settle(
    row: Sequence[int],
    asides: list[float],
    desired: Sequence[float],
    offsets: Sequence[float],
    weights: Sequence[float],
) -> None:
    """Move the cells of a layer as close as possible to the desired positions, keeping their order and distances: cells
    that would collide form a block that moves together."""
    blocks: list[tuple[float, float, int]] = []  # weighted sum of positions, sum of weights, number of cells
    for target, offset, weight in zip(desired, offsets, weights, strict=True):
        total, heavy, count = (target - offset) * weight, weight, 1
        while blocks and blocks[-1][0] * heavy >= total * blocks[-1][1]:
            before = blocks.pop()
            total, heavy, count = total + before[0], heavy + before[1], count + before[2]
        blocks.append((total, heavy, count))
    place = 0
    for total, heavy, count in blocks:
        for _ in range(count):
            asides[row[place]] = total / heavy + offsets[place]
            place += 1


def _gaps(order: Order) -> tuple[float, float]:
    """Return the least and the greatest distance between layers."""
    words = any(cell.word >= 0 for cell in order.cells)
    return (_BEFORE_WORDS, _WIDEST_THERE) if words else (_GAP, _WIDEST)


def _alongs(order: Order, sizes: Sequence[Size], asides: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return where each layer starts and ends; steep arrows get more room."""
    steep = [0.0] * (len(order.layers) + 1)
    for chain in order.chains:
        for one, other in pairwise(chain):
            layer = order.cells[one].layer
            steep[layer] = max(steep[layer], abs(asides[one] - asides[other]))
    starts: list[float] = []
    ends: list[float] = []
    at = 0.0
    least, most = _gaps(order)
    for number, cells in enumerate(order.layers):
        starts.append(at)
        at += max((sizes[cell].along for cell in cells), default=0.0)
        ends.append(at)
        at += min(most, least + steep[number] / 8)
    return starts, ends
