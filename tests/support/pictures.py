"""Takes the README's pictures of the site: `python tests/support/pictures.py REPO`, for a checkout of PyTorch with a
store.

In: a repository. Out: `docs/pictures/*.png`. The server only reads the store. The fonts are Inter and JetBrains Mono if
they are installed, close to what most readers' systems use.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.support import browser

OUT = Path(__file__).parents[2] / "docs" / "pictures"
LARGEST = 200_000
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include>/etc/fonts/fonts.conf</include>
<match target="pattern"><test name="family" qual="all" compare="not_eq"><string>ui-monospace</string></test>
<test name="family" qual="all" compare="not_eq"><string>monospace</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>
<alias binding="strong"><family>ui-monospace</family><prefer><family>JetBrains Mono</family></prefer></alias>
</fontconfig>"""


def source(page: Page) -> None:
    page.locator(".line:has-text('init.kaiming') code a:text-is('kaiming_uniform_')").first.hover()
    page.wait_for_selector("#card")


def searching(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("DataLoad", delay=40)
    page.wait_for_selector(".hit")
    page.wait_for_timeout(600)
    page.keyboard.press("ArrowDown")


PICTURES: dict[str, tuple[str, str, Callable[[Page], None]]] = {
    "source": ("torch/nn/modules/linear.py_source.html#L107", "light", source),
    "definition": ("torch/nn/modules/linear.py_defs/def-Linear.html", "light", lambda page: None),
    "search": ("torch/utils/data/dataloader.py_docs.html", "dark", searching),
    "operator": ("book/operators/aten/addmm.html", "light", lambda page: None),
    "operators": ("book/operators/index.html", "light", lambda page: page.get_by_label("Filter").fill("conv")),
    "map": ("torch/map.html", "dark", lambda page: page.evaluate("document.querySelector('main h2').scrollIntoView()")),
}


def main(root: str) -> None:
    """Take all pictures."""
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        fonts = Path(folder) / "fonts.conf"
        fonts.write_text(FONTS)
        variables = {**os.environ, "FONTCONFIG_FILE": str(fonts)}
        with browser.served(Path(root), "--no-update") as address, sync_playwright() as driver:
            window = driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"], env=variables
            )
            for name, (there, theme, prepared) in PICTURES.items():
                context = window.new_context(viewport={"width": 1240, "height": 700}, color_scheme=theme)  # type: ignore[arg-type]
                page = context.new_page()
                page.set_default_timeout(60_000)
                page.goto(f"{address}/{there}")
                page.wait_for_selector("#tree .top-level")
                prepared(page)
                page.wait_for_timeout(500)
                page.screenshot(path=OUT / f"{name}.png")
                assert (OUT / f"{name}.png").stat().st_size <= LARGEST, name
            window.close()


if __name__ == "__main__":
    main(sys.argv[1])
