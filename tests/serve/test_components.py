"""The page of all components looks as in the documentation's pictures, in both themes.

Fonts differ between machines, so the pictures are compared as mosaics. `python -m tests.support.components` takes them
again; look at them before you commit them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.support import browser, components

ALIKE = 0.01  # of the tiles may differ; with the letters of another family it is 0.0002


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return components.write(tmp_path_factory.mktemp("components"))


@pytest.mark.parametrize("theme", components.THEMES)
def test_the_components_look_as_in_the_documentation(chromium: Browser, address: str, theme: str) -> None:
    kept = (components.OUT / f"components-{theme}.png").read_bytes()
    assert components.difference(chromium, kept, components.picture(chromium, address, theme)) <= ALIKE


def test_letters_of_another_machine_make_no_difference(chromium: Browser, address: str) -> None:
    kept = (components.OUT / "components-light.png").read_bytes()
    other = components.picture(chromium, address, "light", "* { font-family: serif !important }")
    assert components.difference(chromium, kept, other) <= ALIKE


@pytest.mark.parametrize(
    "fault", ["pre { background: #fff !important; border: 0 }", "table { display: none }", "main { padding-left: 60px }"]
)
def test_a_change_of_the_look_is_seen(chromium: Browser, address: str, fault: str) -> None:
    kept = (components.OUT / "components-dark.png").read_bytes()
    assert components.difference(chromium, kept, components.picture(chromium, address, "dark", fault)) > ALIKE
