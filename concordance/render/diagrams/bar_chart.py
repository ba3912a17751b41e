"""Bar charts as SVG.

In: a `Plot`. Out: HTML with the drawing and the same numbers as a table. A tooltip on each bar shows its value.
"""

from __future__ import annotations

from html import escape

from concordance.base.blocks import Plot
from concordance.base.characters import escape_hidden

WIDTH, HEIGHT = 960.0, 220.0
_LEFT, _BELOW, _ABOVE = 56.0, 24.0, 12.0
_WIDEST = 48.0  # of a bar
_ROOMY = 44.0  # width of a bar that has room for a label, and between two labels
_YEAR = 28.0  # width of a year


def plot(block: Plot) -> str:
    """Return the chart and a table of its numbers."""
    most = max((value for _, value in block.bars), default=0)
    if most <= 0:
        return ""
    top = _round(most)
    step = min(_WIDEST, (WIDTH - _LEFT) / len(block.bars))
    title = escape(escape_hidden(block.title))
    out = [
        '<figure class="plot"><div class="drawing" role="group" aria-label="Bar chart" tabindex="0">'
        f'<svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" '
        f'aria-label="{title}: {len(block.bars)} bars, at most {most:,}; the numbers are in the table below">\n'
    ]
    base = HEIGHT - _BELOW
    for tick in sorted({0, top // 2, top}) if top > 1 else (0, top):
        y = _y(tick, top)
        out.append(f'<path class="rule" d="M{_LEFT:.0f} {y:.1f}H{WIDTH:.0f}"/>')
        out.append(f'<text class="count" x="{_LEFT - 6:.0f}" y="{y + 4:.1f}">{tick:,}</text>\n')
    seen = float("-inf")
    for place, (name, value) in enumerate(block.bars):
        x = _LEFT + place * step
        shown = escape(escape_hidden(name), False)
        y = _y(value, top)
        gap = min(2.0, step / 6)
        out.append(
            f'<g class="bar"><title>{shown}: {value:,}</title><rect x="{x + gap:.1f}" y="{y:.1f}" '
            f'width="{step - 2 * gap:.1f}" height="{base - y:.1f}"/></g>\n'
        )
        at = min(x + gap, WIDTH - _YEAR) if step < _ROOMY else x + gap  # the last year would be cut at the edge
        if _is_marked(name, step) and at - seen >= _ROOMY:
            out.append(f'<text class="when" x="{at:.1f}" y="{HEIGHT - 7:.0f}">{_short(shown, step)}</text>\n')
            seen = at
    out.append(f"</svg></div>\n{_numbers(block)}</figure>\n")
    return "".join(out)


def _y(value: float, top: float) -> float:
    return HEIGHT - _BELOW - (HEIGHT - _BELOW - _ABOVE) * value / top


def _round(most: int) -> int:
    """Return the end of the scale: the smallest 1, 2 or 5 times a power of ten that is not below the largest value."""
    unit = 1
    while True:
        for times in (1, 2, 5):
            if most <= times * unit:
                return times * unit
        unit *= 10


def _is_marked(name: str, step: float) -> bool:
    """True if a bar gets a label; if there is no room for all, only those that begin a year."""
    return step >= _ROOMY or len(name) == 4 or name.endswith("-01")


def _short(name: str, step: float) -> str:
    return name if step >= _ROOMY or len(name) <= 4 else name[:4]


def _numbers(block: Plot) -> str:
    head = "".join(f'<th scope="col">{escape(column, False)}</th>' for column in block.columns)
    rows = "".join(
        f"<tr><td>{escape(escape_hidden(name), False)}</td><td>{value:,}</td></tr>" for name, value in block.bars
    )
    return (
        '<details class="in-words"><summary>The numbers</summary><div class="table" tabindex="0">'
        f'<table class="right-2"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>\n'
    )
