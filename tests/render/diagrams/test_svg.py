"""Diagrams: boxes do not overlap, arrows touch the boxes that they join, and the same diagram is always drawn the same.
"""

from __future__ import annotations

import re
from itertools import combinations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from concordance.base.blocks import Diagram, Node, Plot, Ref, To
from concordance.render.diagrams.bar_chart import WIDTH, plot
from concordance.render.diagrams.svg import SMALL, WORD, Box, DrawnDiagram, label_lines, place_diagram, svg
from tests.support import webpages

NAMES = [f"n{number}" for number in range(14)]
LABELS = ["a", "tools/", "aten/src/ATen/native/quantized/cpu/qnnpack", "_methods_invocations" * 3, "漢字かな", "x y z " * 12]


@st.composite
def graphs(draw: st.DrawFn) -> Diagram:
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    group = st.sampled_from(["", "one", "two"]) if draw(st.booleans()) else st.just("")
    nodes = [Node(name, draw(st.sampled_from(LABELS)), draw(group)) for name in names]
    word = st.sampled_from(["", "3", "1,204"]) if draw(st.booleans()) else st.just("")
    edge = st.tuples(st.sampled_from(names), st.sampled_from(names), word)
    return Diagram(nodes, draw(st.lists(edge, max_size=24)), draw(st.booleans()))


def _meet(one: Box, other: Box) -> bool:
    return (
        one.x < other.x + other.width and other.x < one.x + one.width and one.y < other.y + other.height
        and other.y < one.y + one.height
    )  # fmt: skip


def _is_on_edge(box: Box, x: float, y: float) -> bool:
    near = 0.01
    inside = box.x - near <= x <= box.x + box.width + near and box.y - near <= y <= box.y + box.height + near
    sides = (abs(x - box.x), abs(x - box.x - box.width), abs(y - box.y), abs(y - box.y - box.height))
    return inside and min(sides) < near


def _words(drawn: DrawnDiagram) -> list[Box]:
    boxes = []
    for arrow in drawn.arrows:
        if arrow.word and arrow.source != arrow.target:
            (x, y), width = arrow.middle, len(arrow.word) * SMALL
            boxes.append(Box(x - width / 2, y - WORD / 2, width, WORD))
    return boxes


@settings(max_examples=120, deadline=None)
@given(graphs())
@example(Diagram([Node("a", "a"), Node("b", "b")], [("a", "b", "1"), ("b", "a", "2"), ("a", "a", "")]))
def test_nothing_lies_over_anything_else(graph: Diagram) -> None:
    drawn = place_diagram(graph)
    boxes = list(drawn.boxes.values())
    assert len(boxes) == len(graph.nodes) and len(drawn.arrows) == len(graph.edges)
    assert not any(_meet(one, other) for one, other in combinations([*boxes, *_words(drawn)], 2))
    assert not any(_meet(one, other) for (_, one), (_, other) in combinations(drawn.frames, 2))
    for box in boxes:
        assert box.x >= 0 and box.y >= 0 and box.x + box.width <= drawn.width and box.y + box.height <= drawn.height
    for name, frame in drawn.frames:
        for node in graph.nodes:
            assert _meet(drawn.boxes[node.name], frame) == (node.group == name)


@settings(max_examples=120, deadline=None)
@given(graphs())
def test_arrows_touch_what_they_join(graph: Diagram) -> None:
    drawn = place_diagram(graph)
    for (source, target, _), arrow in zip(graph.edges, drawn.arrows, strict=True):
        assert (arrow.source, arrow.target) == (source, target)
        assert _is_on_edge(drawn.boxes[source], *arrow.points[0])
        assert _is_on_edge(drawn.boxes[target], *arrow.points[-1])
        for x, y in arrow.points:
            assert 0 <= x <= drawn.width and 0 <= y <= drawn.height


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_a_diagram_is_always_drawn_alike(graph: Diagram) -> None:
    made = svg(graph, lambda ref: ref.path)
    assert made == svg(Diagram(list(graph.nodes), list(graph.edges), graph.across), lambda ref: ref.path)
    read = webpages.Read(made)
    assert not read.wrong
    assert read.tags["rect"] >= len(graph.nodes)


def test_arrows_lead_on_and_the_weaker_of_two_leads_back() -> None:
    drawn = place_diagram(Diagram([Node("a", "a"), Node("b", "b")], [("b", "a", "2"), ("a", "b", "1,000")]))
    assert drawn.boxes["a"].x < drawn.boxes["b"].x


def test_boxes_are_links_and_the_diagram_is_there_in_words() -> None:
    nodes = [Node("a.py", "a.py", ref=Ref(To.FILE, "a.py")), Node("b.py", "b.py", strong=True)]
    made = svg(Diagram(nodes, [("a.py", "b.py", "3")]), lambda ref: f"to/{ref.path}")
    read = webpages.Read(made)
    assert read.hrefs == ["to/a.py"]
    assert 'aria-label="Diagram of 2 boxes and 1 arrow' in made and "a.py → b.py (3)" in read.text
    assert 'class="node strong"' in made


def test_long_names_are_shown_in_lines_and_whole_when_pointed_at() -> None:
    name = "aten/src/ATen/native/quantized/cpu/qnnpack/src"
    assert "".join(label_lines(name)) == name and len(label_lines(name)) > 1
    assert f"<title>{'x' * 90}</title>" in svg(Diagram([Node("n", "x" * 90)], []), lambda ref: "")


def test_no_boxes_no_diagram() -> None:
    assert svg(Diagram([], []), lambda ref: "") == ""


def test_no_label_of_a_bar_chart_is_cut_at_the_edge() -> None:
    for months in (190, 193, 194, 200):  # from January 2010 on: the last year begins near the edge
        names = [f"{2010 + month // 12}-{month % 12 + 1:02}" for month in range(months)]
        drawn = plot(Plot("Commits", ("Month", "Commits"), [(name, 3) for name in names]))
        at = [float(x) for x in re.findall(r'class="when" x="([\d.]+)"', drawn)]
        assert len(at) > 10 and at[-1] + 28 <= WIDTH
