"""Treemaps as SVG: nested rectangles, each as square as possible, and each a link.

In: a `Treemap`, and a function that returns the address of a link. Out: HTML with the drawing, and its first level as
a list. A label or a tooltip identifies each area; its colour only repeats the most common kind of file in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from concordance.base.blocks import Ref, Tile, Treemap
from concordance.base.characters import escape_hidden
from concordance.render.diagrams.svg import LETTER

WIDTH, HEIGHT = 960.0, 560.0
_HEAD = 18.0  # height of a folder's title
_MIN_SIZE = (56.0, 40.0)  # least width and height at which a folder's content is drawn
_BETWEEN = 2.0


class Area(NamedTuple):
    """A tile with its position."""

    tile: Tile
    x: float
    y: float
    width: float
    height: float
    depth: int
    is_open: bool  # its content is drawn


def treemap(block: Treemap, address: Callable[[Ref], str]) -> str:
    """Return the map, and its first level as a list."""
    total = sum(tile.value for tile in block.tiles)
    if total <= 0:
        return ""
    out = [
        f'<figure class="map"><div class="drawing"><svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="group" '
        f'aria-label="Map: {escape(escape_hidden(block.title))}; its parts are listed below">\n'
    ]
    drawn = list(areas(block.tiles))
    out += [_area(area, address) for area in drawn]
    kinds = sorted({area.tile.kind for area in drawn if area.tile.kind})
    out.append(f"</svg></div>\n{_legend(kinds)}{_in_words(block, total, address)}</figure>\n")
    return "".join(out)


# --- layout


def areas(tiles: Sequence[Tile]) -> list[Area]:
    """Return the position of every tile, nested tiles after those around them."""
    placed: list[Area] = []
    _fill(tiles, (0.0, 0.0, WIDTH, HEIGHT), 1, placed)
    return placed


def _fill(tiles: Sequence[Tile], box: tuple[float, float, float, float], depth: int, areas: list[Area]) -> None:
    for tile, (x, y, width, height) in _squarified(tiles, box):
        opens = bool(tile.tiles) and width >= _MIN_SIZE[0] and height >= _MIN_SIZE[1]
        areas.append(Area(tile, x, y, width, height, depth, opens))
        if opens:
            inside = (x + _BETWEEN, y + _HEAD, width - 2 * _BETWEEN, height - _HEAD - _BETWEEN)
            _fill(tile.tiles, inside, depth + 1, areas)


def _squarified(
    tiles: Sequence[Tile], box: tuple[float, float, float, float]
) -> Iterator[tuple[Tile, tuple[float, float, float, float]]]:
    """Yield positions in rows along the shorter side; a row ends if one more makes it less square (Bruls et al.)."""
    left = sorted((tile for tile in tiles if tile.value > 0), key=lambda tile: -tile.value)
    x, y, width, height = box
    scale = width * height / (sum(tile.value for tile in left) or 1.0)
    place = 0
    while place < len(left):
        side = min(width, height)
        end, row, worst = place, 0.0, float("inf")
        largest = left[place].value * scale
        while end < len(left):
            area = left[end].value * scale
            grown = row + area
            ratio = max(side * side * largest / (grown * grown), grown * grown / (side * side * area)) if side else 1.0
            if ratio > worst:
                break
            row, worst, end = grown, ratio, end + 1
        thick = row / side if side else 0.0
        at = 0.0
        for tile in left[place:end]:
            long = tile.value * scale / thick if thick else 0.0
            yield tile, (x, y + at, thick, long) if width >= height else (x + at, y, long, thick)
            at += long
        if width >= height:
            x, width = x + thick, max(0.0, width - thick)
        else:
            y, height = y + thick, max(0.0, height - thick)
        place = end


# --- drawing


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _area(area: Area, address: Callable[[Ref], str]) -> str:
    tile, gap = area.tile, _BETWEEN / 2
    width, height = max(area.width - 2 * gap, 0.5), max(area.height - 2 * gap, 0.5)
    kind = f" of-{tile.kind}" if tile.kind.isalpha() else ""
    inside = (
        f"<title>{escape(escape_hidden(tile.label), False)}: {escape(escape_hidden(tile.description), False)}</title>"
        f'<rect x="{_number(area.x + gap)}" y="{_number(area.y + gap)}" width="{_number(width)}" '
        f'height="{_number(height)}"/>{_name(area, width, height)}'
    )
    classes = f"tile{' open' if area.is_open else ''}{kind}"
    if tile.ref is None:
        return f'<g class="{classes}">{inside}</g>\n'
    hidden = ' tabindex="-1"' if area.depth > 1 else ""  # the Tab key visits only the top level
    return f'<a class="{classes}" href="{escape(address(tile.ref))}"{hidden}>{inside}</a>\n'


def _name(area: Area, width: float, height: float) -> str:
    """Return as much of a name as there is room for; the tooltip has all of it."""
    room = int((width - 8) / LETTER)
    if height < 14 or room < 3:
        return ""
    name = " ".join(escape_hidden(area.tile.label).split())
    shown = name if len(name) <= room else f"{name[: room - 1]}…"
    return f'<text x="{_number(area.x + 5)}" y="{_number(area.y + 14)}">{escape(shown, False)}</text>'


def _legend(kinds: Sequence[str]) -> str:
    rows = "".join(f'<li class="of-{escape(kind)}">{escape(kind)}</li>' for kind in kinds if kind.isalpha())
    return f'<ul class="legend" aria-label="Colours: most files are">{rows}</ul>\n' if rows else ""


def _in_words(block: Treemap, total: float, address: Callable[[Ref], str]) -> str:
    rows = []
    for tile in block.tiles:
        label = escape(escape_hidden(tile.label), False)
        label = f'<a href="{escape(address(tile.ref))}">{label}</a>' if tile.ref else label
        rows.append(
            f"<li>{label}: {escape(escape_hidden(tile.description), False)}, {100 * tile.value / total:.2g} %</li>"
        )
    return f'<details class="in-words"><summary>The map in words</summary><ul>{"".join(rows)}</ul></details>\n'
