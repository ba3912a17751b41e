"""Diagrams as SVG, drawn while the page is rendered: boxes that are links, labelled arrows, groups in frames.

In: a `Diagram`, and a function that returns the address of a link. Out: HTML with the drawing, and the same as a list
for people who cannot see it. Colours and fonts come from the style sheet: the drawing has only classes and positions,
so it follows the page's light or dark theme. A fixed-width font makes the width of a label known without a browser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from concordance.base.blocks import Diagram, Node, Ref, count_noun
from concordance.base.characters import escape_hidden
from concordance.render.diagrams.layout import Layout, Order, Size, assign_layers, compute_layout, estimate_size

LETTER, SMALL = 7.25, 6.65  # width of a letter in a box (12 pixels) and of one on an arrow (11 pixels)
HEIGHT, WORD = 28.0, 16.0
_LINE, _LINES = 24, 3  # letters per line and lines of a label; a longer one is shortened, and the tooltip has all of it
_ROW = 15.0
_PARTS = re.compile(r"(?<=[/._ :-])|(?<=[a-z0-9])(?=[A-Z])")  # where a label can be broken
_MARGIN, _INSIDE = 10.0, 12.0
_TIP = 8.0
_WIDE = 900.0  # width of the page's text
_FRAME = 14.0  # around a group; its name is above it


class Box(NamedTuple):
    """A box with its position."""

    x: float
    y: float
    width: float
    height: float


class Arrow(NamedTuple):
    """An arrow with its position: the points from its start to its tip."""

    source: str
    target: str
    word: str
    points: list[tuple[float, float]]
    middle: tuple[float, float]  # of its label


class DrawnDiagram(NamedTuple):
    """A diagram with all positions."""

    boxes: dict[str, Box]
    arrows: list[Arrow]
    frames: list[tuple[str, Box]]
    width: float
    height: float
    across: bool


def svg(graph: Diagram, address: Callable[[Ref], str]) -> str:
    """Return the diagram as SVG, and as a list."""
    if not graph.nodes:
        return ""
    drawn = place_diagram(graph)
    width, height = _number(drawn.width), _number(drawn.height)
    boxes, arrows = count_noun(len(graph.nodes), "box", "boxes"), count_noun(len(graph.edges), "arrow")
    linked = any(node.ref for node in graph.nodes)
    out = [
        f'<figure class="graph"><div class="drawing"{"" if linked else f" {_FOCUS}"}>'
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
        f'aria-label="Diagram of {boxes} and {arrows}; described in words below">\n'
    ]
    out += [_frame(name, frame) for name, frame in drawn.frames]
    out += [_arrow(arrow, drawn.across) for arrow in drawn.arrows]
    out += [_box(node, drawn.boxes[node.name], address) for node in graph.nodes]
    out += [_word(arrow) for arrow in drawn.arrows if arrow.word]
    out.append(f"</svg></div>\n{_in_words(graph)}</figure>\n")
    return "".join(out)


_FOCUS = 'tabindex="0"'  # a drawing without links gets the focus itself, so that the keyboard can scroll it


# --- layout


def place_diagram(graph: Diagram) -> DrawnDiagram:
    """Compute all positions. A diagram that would be too wide is drawn from top to bottom if that is narrower."""
    numbers = {node.name: number for number, node in enumerate(graph.nodes)}
    groups = list(dict.fromkeys(node.group for node in graph.nodes))
    arrows = [(numbers[source], numbers[target]) for source, target, _ in graph.edges]
    order = assign_layers(
        [groups.index(node.group) for node in graph.nodes], arrows, [bool(word) for *_, word in graph.edges],
        [_weight(word) for *_, word in graph.edges],
    )  # fmt: skip
    sizes = [_size(node) for node in graph.nodes]
    words = [
        Size(len(escape_hidden(word)) * SMALL + 8, WORD) for source, target, word in graph.edges if source != target
    ]
    turned = [Size(*reversed(size)) for size in sizes], [Size(*reversed(size)) for size in words]
    wide = estimate_size(order, sizes, words).along
    across = graph.across and (wide <= _WIDE or estimate_size(order, *turned).aside >= wide)
    layout = compute_layout(order, *((sizes, words) if across else turned))
    return _drawn(graph, _Plan(order, layout, across, _MARGIN + (_FRAME * 2 if any(groups) else 0)), groups)


class _Plan(NamedTuple):
    """The layout, and the direction in which it is drawn."""

    order: Order
    layout: Layout
    across: bool
    top: float


def _drawn(graph: Diagram, plan: _Plan, groups: Sequence[str]) -> DrawnDiagram:
    boxes = [_place(plan, number) for number in range(len(graph.nodes))]
    arrows = _arrows(graph, plan, boxes)
    named = dict(zip((node.name for node in graph.nodes), boxes, strict=True))
    frames = [
        (group, _frame_around([named[node.name] for node in graph.nodes if node.group == group]))
        for group in groups
        if group
    ]
    all_boxes = [*boxes, *(frame for _, frame in frames)]
    right, bottom = max(box.x + box.width for box in all_boxes), max(box.y + box.height for box in all_boxes)
    for arrow in arrows:
        right, bottom = max(right, *(x for x, _ in arrow.points)), max(bottom, *(y for _, y in arrow.points))
        if arrow.word:
            right = max(right, arrow.middle[0] + len(arrow.word) * SMALL / 2)
            bottom = max(bottom, arrow.middle[1] + WORD / 2)
    return DrawnDiagram(named, arrows, frames, right + _MARGIN, bottom + _MARGIN, plan.across)


def label_lines(text: str) -> list[str]:
    """Return the lines of a label; a long one is broken after punctuation or at a capital letter."""
    text = " ".join(escape_hidden(text).split())
    if len(text) <= _LINE + 4:
        return [text]
    lines = [""]
    for part in _PARTS.split(text):
        if lines[-1] and len(lines[-1]) + len(part) > _LINE:
            lines.append("")
        lines[-1] += part
    lines = [line if len(line) <= _LINE + 4 else f"{line[: _LINE // 2]}…{line[-_LINE // 2 :]}" for line in lines]
    lines = [line.strip() for line in lines if line.strip()]
    return lines if len(lines) <= _LINES else [*lines[: _LINES - 1], f"…{lines[-1]}"]


def text_width(text: str) -> float:
    """Return the width of a text."""
    if text.isascii():
        return len(text) * LETTER
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text) * LETTER


def _size(node: Node) -> Size:
    lines = label_lines(node.label)
    return Size(max(map(text_width, lines)) + 2 * _INSIDE, HEIGHT + (len(lines) - 1) * _ROW)


def _weight(word: str) -> float:
    """Return the weight of an arrow: the number on it, if it has one."""
    number = word.replace(",", "")
    return float(number) if number.isdecimal() and number.isascii() else 1.0


def _place(plan: _Plan, number: int) -> Box:
    """Return a box; side by side, those of one layer are as wide as the widest of them."""
    layout, layer, size = plan.layout, plan.order.cells[number].layer, plan.layout.sizes[number]
    start, end, aside = layout.starts[layer], layout.ends[layer], layout.asides[number] - size.aside / 2
    if plan.across:
        return Box(_MARGIN + start, plan.top + aside, end - start, size.aside)
    return Box(_MARGIN + aside, plan.top + start, size.aside, size.along)


def _frame_around(boxes: Sequence[Box]) -> Box:
    left, top = min(box.x for box in boxes) - _FRAME / 2, min(box.y for box in boxes) - _FRAME * 1.5
    right = max(box.x + box.width for box in boxes) + _FRAME / 2
    return Box(left, top, right - left, max(box.y + box.height for box in boxes) + _FRAME / 2 - top)


# --- arrows


def _arrows(graph: Diagram, plan: _Plan, boxes: Sequence[Box]) -> list[Arrow]:
    at_tail, at_head = _ports(plan, True), _ports(plan, False)
    ways = iter(range(len(plan.order.ways)))
    names = {node.name: number for number, node in enumerate(graph.nodes)}
    drawn = []
    for source, target, word in graph.edges:
        if source == target:
            drawn.append(_loop(source, escape_hidden(word), boxes[names[source]]))
            continue
        number = next(ways)
        chain = plan.order.chains[number]
        points = _points(plan, chain, at_tail[number], at_head[number])
        at = next((cell for cell in chain if plan.order.cells[cell].word >= 0), chain[0])
        layer = plan.order.cells[at].layer
        middle = ((plan.layout.starts[layer] + plan.layout.ends[layer]) / 2, plan.layout.asides[at])
        if plan.order.ways[number].turned:
            points.reverse()
        seen = [_to_page(point, plan) for point in [*points, middle]]
        drawn.append(Arrow(source, target, escape_hidden(word), seen[:-1], seen[-1]))
    return drawn


def _ports(plan: _Plan, tails: bool) -> list[float]:
    """Return where each arrow leaves (or reaches) its box: side by side, ordered by where the arrows go."""
    asides, ways, chains = plan.layout.asides, plan.order.ways, plan.order.chains
    sides: dict[int, list[int]] = {}
    for number, way in enumerate(ways):
        sides.setdefault(way.tail if tails else way.head, []).append(number)
    places = [0.0] * len(ways)
    for box, numbers in sides.items():
        numbers.sort(key=lambda number: asides[chains[number][1 if tails else -2]])
        room = plan.layout.sizes[box].aside * 0.62
        step = min(10.0, room / max(1, len(numbers) - 1))
        for place, number in enumerate(numbers):
            places[number] = asides[box] + (place - (len(numbers) - 1) / 2) * step
    return places


def _points(plan: _Plan, chain: Sequence[int], leaves: float, reaches: float) -> list[tuple[float, float]]:
    """Return the points of an arrow; inside a layer it is straight, since space is reserved for it there."""
    layout, layers = plan.layout, [plan.order.cells[cell].layer for cell in chain]
    begins = layout.ends[layers[0]] if plan.across else layout.starts[layers[0]] + layout.sizes[chain[0]].along
    points = [(begins, leaves)]
    if begins < layout.ends[layers[0]]:
        points.append((layout.ends[layers[0]], leaves))
    for cell, layer in zip(chain[1:-1], layers[1:-1], strict=True):
        points.append((layout.starts[layer], layout.asides[cell]))
        if layout.ends[layer] > layout.starts[layer]:
            points.append((layout.ends[layer], layout.asides[cell]))
    points.append((layout.starts[layers[-1]], reaches))
    return points


def _to_page(point: tuple[float, float], plan: _Plan) -> tuple[float, float]:
    along, aside = point
    return (_MARGIN + along, plan.top + aside) if plan.across else (_MARGIN + aside, plan.top + along)


def _loop(name: str, word: str, box: Box) -> Arrow:
    """Return an arrow from a box to itself."""
    x, y = box.x + box.width, box.y + box.height / 2
    points = [(x, y - 7), (x + 16, y), (x, y + 7)]
    return Arrow(name, name, word, points, (x + 22, y))


# --- drawing


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _frame(name: str, box: Box) -> str:
    x, y = _number(box.x), _number(box.y)
    return (
        f'<g class="frame"><rect x="{x}" y="{y}" width="{_number(box.width)}" height="{_number(box.height)}" rx="8"/>'
        f'<text x="{_number(box.x + 8)}" y="{_number(box.y + 12)}">{escape(escape_hidden(name), False)}</text></g>\n'
    )


def _box(node: Node, box: Box, address: Callable[[Ref], str]) -> str:
    lines, whole = label_lines(node.label), " ".join(escape_hidden(node.label).split())
    title = escape_hidden(node.name) if "".join(lines) == whole and node.name else whole
    middle, first = _number(box.x + box.width / 2), box.y + box.height / 2 + 4 - (len(lines) - 1) * _ROW / 2
    if len(lines) == 1:
        text = escape(lines[0], False)
    else:
        text = "".join(
            f'<tspan x="{middle}" y="{_number(first + place * _ROW)}">{escape(line, False)}</tspan>'
            for place, line in enumerate(lines)
        )
    inside = (
        f"<title>{escape(title, False)}</title>"
        f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" height="{_number(box.height)}" '
        f'rx="6"/><text x="{middle}" y="{_number(first)}">{text}</text>'
    )
    kind = "node strong" if node.strong else "node"
    if node.ref is None:
        return f'<g class="{kind}">{inside}</g>\n'
    return f'<a class="{kind}" href="{escape(address(node.ref))}">{inside}</a>\n'


def _arrow(arrow: Arrow, across: bool) -> str:
    points = arrow.points
    (x, y), before = points[-1], points[-2]
    if arrow.source == arrow.target or across:
        back = _TIP if before[0] <= x and arrow.source != arrow.target else -_TIP
        line_end, tip = (x - back, y), f"M{_number(x)} {_number(y)}l{_number(-back)} -4v8z"
    else:
        back = _TIP if before[1] <= y else -_TIP
        line_end, tip = (x, y - back), f"M{_number(x)} {_number(y)}l-4 {_number(-back)}h8z"
    line = _line([*points[:-1], line_end], across)
    return f'<path class="arrow" d="{line}"/><path class="tip" d="{tip}"/>\n'


def _line(points: Sequence[tuple[float, float]], across: bool) -> str:
    """Return a path that is parallel to the arrows' direction at each of its points."""
    x, y = points[0]
    parts = [f"M{_number(x)} {_number(y)}"]
    for to_x, to_y in points[1:]:
        if (y == to_y) if across else (x == to_x):
            parts.append(f"L{_number(to_x)} {_number(to_y)}")
        elif across:
            middle = _number((x + to_x) / 2)
            parts.append(f"C{middle} {_number(y)} {middle} {_number(to_y)} {_number(to_x)} {_number(to_y)}")
        else:
            middle = _number((y + to_y) / 2)
            parts.append(f"C{_number(x)} {middle} {_number(to_x)} {middle} {_number(to_x)} {_number(to_y)}")
        x, y = to_x, to_y
    return "".join(parts)


def _word(arrow: Arrow) -> str:
    x, y = arrow.middle
    return f'<text class="word" x="{_number(x)}" y="{_number(y + 4)}">{escape(arrow.word, False)}</text>\n'


# --- text alternative


def _in_words(graph: Diagram) -> str:
    """Return the diagram as a list, for screen readers and print."""
    labels = {node.name: escape(" ".join(escape_hidden(node.label).split()), False) for node in graph.nodes}
    leads: dict[str, list[str]] = {}
    for source, target, word in graph.edges:
        more = f" ({escape(escape_hidden(word), False)})" if word else ""
        leads.setdefault(source, []).append(f"{labels[target]}{more}")
    rows = [f"<li>{labels[name]} → {', '.join(targets)}</li>" for name, targets in leads.items()]
    joined = {name for edge in graph.edges for name in edge[:2]}
    rows += [f"<li>{labels[node.name]}</li>" for node in graph.nodes if node.name not in joined]
    return f'<details class="in-words"><summary>The diagram in words</summary><ul>{"".join(rows)}</ul></details>\n'
