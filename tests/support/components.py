"""A page with every component of the site: `python -m tests.support.components` takes its pictures for the documentation.

In: nothing. Out: the page with its assets in a folder, and `docs/pictures/components-light.png` and `-dark.png`. The
page is made of blocks, so it shows what the program writes and not a copy of it.
"""

from __future__ import annotations

import sys
import tempfile
from base64 import b64encode
from pathlib import Path

from playwright.sync_api import Browser

from concordance.base.blocks import (
    Block,
    Code,
    Diagram,
    Doc,
    Heading,
    Item,
    Items,
    Mono,
    Node,
    Page,
    Plot,
    Quote,
    Ref,
    Strong,
    Table,
    Text,
    Tile,
    To,
    Treemap,
)
from concordance.render.site import html, page_frame
from concordance.render.site.addresses import SiteAddresses
from concordance.render.site.files import assets
from tests.support import browser

THEMES = ("light", "dark")
OUT = Path(__file__).parents[2] / "docs" / "pictures"
FILE = Ref(To.FILE, "lib/shop.py", "", "lib/shop.py")
BLOCKS: list[Block] = [
    Heading(2, ["File Metadata"]),
    Items([Item([Strong("Path"), ": ", FILE]), Item([Strong("Lines"), ": ", "120 (90 code, 20 comment, 10 blank)"])]),
    Heading(2, ["Text"]),
    Text(["A sentence with ", Mono("code"), ", a ", Ref(To.FILE, "lib/shop.py", "", "link", False), " and ", FILE, "."]),
    Quote([Doc(["Words of an author, with *emphasis*, `code` and a [web address](https://example.org)."])]),
    Doc(["> **Note:** A remark that is set off.\n\n> **Warning:** Something to be careful about.\n\n"
         "> **Tip:** Something that helps.\n\nA formula, $`E = mc^2`$, in a sentence.\n\n```math\n\\frac{a}{b}\n```"]),
    Items([Item(["an entry"]), Item(["another one"], [Items([Item(["inside it"])])])]),
    Items([Item([Strong("Build"), ": ", Mono("make")]), Item([Strong("Test"), ": ", "391 tests"])]),
    Heading(2, ["Code"]),
    Code('def total(prices: list[float]) -> float:\n    """Add up prices."""  # all of them\n    return sum(prices, 0.0)\n', "python"),
    Heading(2, ["Tables"]),
    Table(["File", "Lines", "What it is"], [[[FILE], ["120"], ["a shop with a very small number of customers"]],
                                           [[Mono("lib/cart.py")], ["1,024"], ["what they carry"]]]),
    Heading(2, ["Drawings"]),
    Diagram([Node("a", "shop.py", strong=True, ref=FILE), Node("b", "cart.py"), Node("c", "tax.py")],
            [("a", "b", "uses"), ("a", "c", "")]),
    Treemap("Lines", [Tile("lib/", 700, "700 lines", FILE, "source"), Tile("tests/", 300, "300 lines", None, "test"),
                      Tile("docs/", 200, "200 lines", None, "documentation")]),
    Plot("Commits by month", ("Month", "Commits"), [("2026-09", 4), ("2026-10", 9), ("2026-11", 6)]),
    Heading(2, ["Security & Safety"]),
    Heading(3, ["Security Considerations"]),
    Text(["No findings (19 rules checked)."]),
]  # fmt: skip


def write(folder: Path) -> str:
    """Write the page and its assets; return its address."""
    addresses = SiteAddresses(["lib/shop.py"], str(folder), str(folder / "out"))
    body = html.render(Page(Ref(To.FILE, "lib/shop.py"), ["Components of the site"], BLOCKS), addresses)
    window = page_frame.Window(
        "Shop", "lib/shop.py_docs.html", body.title, body.html, body.outline, "file", "lib/shop.py",
        views=[("Documentation", "./shop.py_docs.html"), ("Source", "./shop.py_source.html")],
        folders=[("Shop", "../index.html"), ("lib", "./index.html")], name="shop.py",
        pages=[("Contents", "../index.html"), ("Book", "../comprehensive_book.html")],
    )  # fmt: skip
    files = {window.address: page_frame.render_document(window).encode(), **{to: data for to, (data, _) in assets().items()}}
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return (folder / window.address).as_uri()


# Draws two pictures as small mosaics, in which letters are shades of grey, and returns the share of tiles that differ.
COMPARE = """async ([one, other, across, least]) => {
    const shades = async (data) => {
        const picture = new Image();
        picture.src = "data:image/png;base64," + data;
        await picture.decode();
        const canvas = document.createElement("canvas");
        canvas.width = across;
        canvas.height = Math.round(across * picture.height / picture.width);
        const drawing = canvas.getContext("2d");
        drawing.imageSmoothingQuality = "high";
        drawing.drawImage(picture, 0, 0, canvas.width, canvas.height);
        return drawing.getImageData(0, 0, canvas.width, canvas.height).data;
    };
    const [a, b] = [await shades(one), await shades(other)];
    if (a.length !== b.length) return 1;
    let differing = 0;
    for (let at = 0; at < a.length; at += 4) {
        const apart = Math.max(...[0, 1, 2].map((part) => Math.abs(a[at + part] - b[at + part])));
        differing += apart > least;
    }
    return differing / (a.length / 4);
}"""
ACROSS, LEAST = 48, 24  # tiles in a row; how far apart the shades of a tile have to be, of 255


def picture(chromium: Browser, address: str, theme: str, style: str = "") -> bytes:
    """Return a picture of the page in a theme; `style` is added to its own."""
    page = chromium.new_page(viewport={"width": 1280, "height": 2350}, color_scheme=theme, device_scale_factor=0.6)  # type: ignore[arg-type]
    page.goto(address)
    if style:
        page.add_style_tag(content=style)
    page.wait_for_timeout(500)
    taken = page.screenshot()
    page.close()
    return taken


def difference(chromium: Browser, one: bytes, other: bytes) -> float:
    """Return the share of two pictures that differs, whatever fonts their machines have."""
    page = chromium.new_page()
    found = page.evaluate(COMPARE, [b64encode(one).decode(), b64encode(other).decode(), ACROSS, LEAST])
    page.close()
    return float(found)


def main() -> None:
    """Take the pictures."""
    with tempfile.TemporaryDirectory() as folder, browser.chromium() as chromium:
        address = write(Path(folder))
        for theme in THEMES:
            (OUT / f"components-{theme}.png").write_bytes(picture(chromium, address, theme))


if __name__ == "__main__":
    sys.exit(main())
