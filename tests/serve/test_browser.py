"""The site in a real browser: reading, searching, following links; by keyboard, with the dark theme, on a phone; from a
server and from files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import Browser, Page, expect

from concordance.workflow import store_update
from tests.support import books, browser, program

KINDS = [  # a page of each kind, small ones: axe looks at every word
    "index.html", "abacus/doc.html", "abacus/sub.html", "abacus/index.html", "abacus/rounding.py_docs.html",
    "abacus/rounding.py_source.html", "abacus/rounding.py_kw.html", "abacus/ledger.py_defs/def-Overflow.html",
    "keywords/o.html", "book/reading-paths.html", "verification_report.html", "abacus/map.html", "abacus/history.html",
    "README.md_docs.html", "docs/design.rst_docs.html", "map.html", "book/rules/ANY-KEY.html", "search.html?q=rounding", "book/operators/index.html", "book/operators/aten/tally.html",
]  # fmt: skip

expect.set_options(timeout=60_000)  # on a machine that has other work


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        made = browser.repository(tmp_path_factory.mktemp("site"))
        store_update.build(str(made), 1)
        return made


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    with browser.served(root) as found:
        yield found


@pytest.fixture(scope="module")
def files(root: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same site as files on disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        out = tmp_path_factory.mktemp("files") / "site"
        program.concord("build", root, "--format", "html", "--out", out)
    return out.as_uri()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as found:
        yield found


@pytest.fixture
def reader(chromium: Browser, address: str) -> Iterator[browser.Reader]:
    with browser.reading(chromium, address) as found:
        yield found


def hits(page: Page) -> list[str]:
    page.wait_for_selector(".hit")
    return page.locator(".hit .name").all_inner_texts()


# --- reading


@pytest.mark.parametrize("base", ["address", "files"])
def test_the_index_of_operators_is_sorted_and_filtered(
    chromium: Browser, base: str, request: pytest.FixtureRequest
) -> None:
    with browser.reading(chromium, request.getfixturevalue(base)) as reader:
        page = reader.open("book/operators/index.html")
        names = page.locator("table.sorts tbody tr:not([hidden]) td:first-child")
        assert names.all_inner_texts() == ["abate", "muster", "tally"]
        page.get_by_role("button", name="Operator").click()
        page.get_by_role("button", name="Operator").click()
        assert names.all_inner_texts() == ["tally", "muster", "abate"]
        page.get_by_label("CUDA: which rows").select_option("has")
        assert sorted(names.all_inner_texts()) == ["muster", "tally"]
        page.get_by_label("Filter").fill("mus")
        assert names.all_inner_texts() == ["muster"]
        expect(page.locator(".sorting [role=status]")).to_have_text("1 of 3")
        page.get_by_role("link", name="muster").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Operator aten::muster")


def test_a_page_stands_in_its_tree_and_outline(reader: browser.Reader) -> None:
    page = reader.open("abacus/ledger.py_docs.html")
    expect(page.locator("#tree .top-level [aria-current]")).to_have_text("ledger.py")
    expect(page.locator(".path")).to_contain_text("abacus")
    expect(page.locator(".views [aria-current]")).to_have_text("Documentation")
    page.click("#outline >> text=Dependencies")
    expect(page.locator("#outline [aria-current]")).to_contain_text("Dependencies")
    page.click("#tree >> text=rounding.py")
    expect(page.locator("h1")).to_contain_text("rounding.py")
    page.click(".views >> text=Source")
    expect(page.locator("#L1")).to_be_visible()


def test_a_definition_leads_to_its_uses_and_back(reader: browser.Reader) -> None:
    page = reader.open("abacus/ledger.py_source.html")
    page.click(".line code a.d:has-text('Ledger')")
    expect(page.locator("h1")).to_contain_text("Ledger")
    page.locator("main a[href*='_source.html#L']:not([href*='ledger.py_source'])").first.click()
    expect(page.locator(".line.on").first).to_contain_text("Ledger")
    page.go_back()
    page.go_back()
    assert reader.at().startswith("abacus/ledger.py_source.html")


def test_lines_are_chosen_by_their_numbers(reader: browser.Reader) -> None:
    page = reader.open("abacus/ledger.py_source.html#L20-L22")
    expect(page.locator(".line.on")).to_have_count(3)
    page.click("#L5 .n")
    assert reader.at().endswith("#L5")
    page.click("#L9 .n", modifiers=["Shift"])
    assert reader.at().endswith("#L5-L9")
    expect(page.locator(".line.on")).to_have_count(5)
    page.go_back()
    expect(page.locator(".line.on")).to_have_count(1)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.source'))")
    copied = page.evaluate("getSelection().toString()")  # without the numbers and the margin
    assert copied.rstrip("\n") == (books.golden_files.SAMPLE / "abacus/ledger.py").read_text().rstrip("\n")


def test_a_card_says_what_a_name_is(reader: browser.Reader) -> None:
    page = reader.open("abacus/ledger.py_source.html")
    link = page.locator(".line code a[data-c]:has-text('Overflow')").last
    link.hover()
    expect(page.locator("#card")).to_contain_text("The sum left the range")
    expect(page.locator("#card code").first).to_have_text("abacus.Overflow")
    box, name = page.locator("#card").bounding_box(), link.bounding_box()
    assert box and name and (box["y"] >= name["y"] + name["height"] or box["y"] + box["height"] <= name["y"])
    page.keyboard.press("Escape")
    expect(page.locator("#card")).to_have_count(0)
    page.mouse.move(0, 0)
    page.locator(".line code a").first.focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.hasAttribute('data-c')"):
            break
    expect(page.locator("#card")).to_be_visible()
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "card"


def test_a_card_names_the_other_places(reader: browser.Reader) -> None:
    page = reader.open("either/use.py_source.html")
    page.locator("#L2 code a").first.focus()
    page.keyboard.press("Tab")
    card, others = page.locator("#card"), page.locator("#card a[href*='_source.html#L2']")
    expect(card).to_contain_text("Or: ")
    assert sorted(others.all_inner_texts()) == ["either/Six%E2%80%AE.py:2", "either/Two.py:2"]
    page.keyboard.press("c")
    expect(others.first).to_be_focused()
    assert reader.violations() == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#card') !== null")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    assert page.evaluate("document.activeElement.hasAttribute('data-also')")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    page.wait_for_url("**/either/*.py_source.html#L2")


def test_history_beside_the_lines(reader: browser.Reader) -> None:
    page = reader.open("abacus/rounding.py_source.html")
    button = page.get_by_role("button", name="History")
    button.click()
    expect(page.locator("a.blame")).to_have_count(1)
    expect(page.locator("#L1 .blame")).to_contain_text(re.compile(r"^[0-9a-f]{10} \d{4}-\d\d-\d\d Ada · all$"))
    expect(button).to_have_attribute("aria-pressed", "true")
    assert reader.violations() == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert reader.violations("color-contrast", "link-in-text-block") == []
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.source'))")
    assert "Ada" not in page.evaluate("getSelection().toString()")
    page.click(".blame")
    assert re.search(r"#L1-L\d+$", reader.at())
    expect(page.locator(".line:not(.on)")).to_have_count(0)
    page.keyboard.press("h")
    expect(page.locator(".blame")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_contain_text("history beside the lines")


def test_where_there_is_no_history_the_button_says_so(chromium: Browser, address: str, root: Path, files: str) -> None:
    with browser.reading(chromium, address, viewport={"width": 360, "height": 740}) as reader:
        page = reader.open("either/fresh.py_source.html")
        page.keyboard.press("h")
        expect(page.locator(".views button")).to_have_text("No history: the file is not committed yet")
        assert reader.too_wide() <= 0
        assert reader.violations() == []
    with browser.reading(chromium, files) as reader:
        page = reader.open("abacus/rounding.py_source.html")
        page.keyboard.press("h")
        expect(page.get_by_role("button", name="History")).to_have_count(0)


def test_a_page_loads_little(reader: browser.Reader) -> None:
    """Styles and scripts, uncompressed; the names for the search are loaded only when the reader types."""
    sizes: dict[str, int] = {}
    reader.page.on("response", lambda reply: sizes.__setitem__(reply.url, len(reply.body())))
    reader.open("abacus/ledger.py_source.html").wait_for_selector("#tree .top-level")
    assert sum(size for url, size in sizes.items() if "/assets/" in url) <= 60_000
    assert not [url for url in sizes if "/search/" in url or "/api/" in url]


# --- searching


def test_results_as_one_types(reader: browser.Reader) -> None:
    page = reader.open("index.html")
    page.keyboard.press("/")
    page.keyboard.type("Ledge", delay=15)
    assert any("Ledger" in name for name in hits(page))
    expect(page.locator("#search")).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    chosen = page.get_attribute("#search", "aria-activedescendant")
    expect(page.locator(f"#{chosen}")).to_have_attribute("aria-selected", "true")
    there = page.get_attribute(f"#{chosen}", "href")
    page.keyboard.press("Enter")
    page.wait_for_url(there or "")
    page.keyboard.press("s")
    expect(page.locator("#search")).to_be_focused()


def test_a_question_stands_in_the_address(reader: browser.Reader) -> None:
    page = reader.open("search.html?q=ledger")
    both = len(hits(page))
    page.click(".kinds >> text=Classes")
    expect(page).to_have_url(re.compile(r"q=class%3Aledger"))
    expect(page.locator(".kinds [aria-pressed=true]")).to_have_text("Classes")
    program.wait_for(lambda: 0 < page.locator(".hit").count() < both)
    page.go_back()
    program.wait_for(lambda: page.locator(".hit").count() == both)
    expect(page.locator("#search")).to_have_value("ledger")
    page.fill("#search", "in:abacus ledger")
    page.wait_for_url(re.compile("abacus"))
    program.wait_for(lambda: all(one.startswith("abacus/") for one in page.locator(".hit .where").all_inner_texts()))


@pytest.mark.parametrize("asked", ['"open', "   ", "x" * 5000, "fn:", "zzqqxxyy", "<b>&amp;</b>", "\\", "in:nowhere x"])
def test_a_broken_question_is_told_what_to_do(asked: str, chromium: Browser, address: str) -> None:
    reader = browser.Reader(chromium, address)
    page = reader.open("index.html")
    page.fill("#search", asked)
    if asked.strip():
        expect(page.locator("#found .told, #found .hit").first).to_be_visible()
    reader.open(f"search.html?q={quote(asked[:1500])}")
    expect(page.locator("#count")).not_to_be_empty()
    wrong = [one for one in reader.wrong if "400" not in one]  # the browser itself notes that the server said so
    reader.context.close()
    assert wrong == []


# --- by keys, in the dark, on a phone


def test_all_by_keys(reader: browser.Reader) -> None:
    page = reader.open("abacus/ledger.py_docs.html")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).not_to_be_visible()
    page.wait_for_selector("#tree .top-level")
    page.keyboard.press("t")
    assert page.evaluate("document.activeElement.closest('#tree') !== null")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("o")
    assert page.evaluate("document.activeElement.closest('#outline') !== null")
    page.keyboard.press("v")
    page.wait_for_url("**/ledger.py_source.html")
    page.keyboard.press("u")
    page.wait_for_url("**/abacus/index.html")


def test_dark_is_remembered(chromium: Browser, address: str) -> None:
    with browser.reading(chromium, address, color_scheme="dark") as reader:
        page = reader.open("index.html")
        colour = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(colour)
        page.keyboard.press("d")
        light = page.evaluate(colour)
        assert dark != light == "rgb(255, 255, 255)"
        page.reload()
        assert page.evaluate(colour) == light
        page.click("[data-does=theme]")
        assert page.evaluate(colour) == dark


def test_a_phone(chromium: Browser, address: str) -> None:
    with browser.reading(chromium, address, viewport={"width": 360, "height": 740}, has_touch=True) as reader:
        for kind in KINDS:
            page = reader.open(kind)
            assert reader.too_wide() <= 0, kind
        page = reader.open("abacus/ledger.py_docs.html")
        page.wait_for_selector("#tree .top-level", state="attached")
        expect(page.locator("#tree")).not_to_be_visible()
        page.tap("[data-does=tree]")
        expect(page.locator("#tree >> text=rounding.py")).to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(page.locator("#tree")).not_to_be_visible()
        page.tap("[data-does=outline]")
        page.tap("#outline >> text=Dependencies")
        expect(page.locator("#outline")).not_to_be_visible()


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(reader: browser.Reader, kind: str) -> None:
    """All rules at the widths of a phone and a desktop, which have different layouts; with the dark theme the rules
    about colours."""
    for width in (390, 1280):
        reader.page.set_viewport_size({"width": width, "height": 900})
        page = reader.open(kind)
        page.wait_for_selector("#tree .top-level", state="attached")
        if "search" in kind:
            hits(page)
        assert reader.too_wide() <= 0, width
        assert reader.violations() == [], width
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert reader.violations("color-contrast", "link-in-text-block") == []
    page.set_viewport_size({"width": 1920, "height": 900})
    assert reader.too_wide() <= 0


def test_an_address_without_a_page_has_the_search(chromium: Browser, address: str) -> None:
    reader = browser.Reader(chromium, address)
    page = reader.open("no/such/page.html")
    expect(page.locator("h1")).to_have_text("404 Not Found")
    page.fill("#search", "Ledger")
    page.wait_for_selector("#found .hit")
    assert reader.violations() == []
    reader.context.close()


def test_wide_tables_use_the_window_and_stack_on_a_phone(chromium: Browser, address: str) -> None:
    table = "main > .table >> nth=0"
    with browser.reading(chromium, address, viewport={"width": 1920, "height": 900}) as reader:
        page = reader.open("index.html")
        prose = page.locator("main > p >> nth=0").bounding_box()
        assert prose is not None and prose["width"] <= 960
        page.evaluate("document.querySelector('main > .table td').style.minWidth = '1200px'")
        wide = page.locator(table).bounding_box()
        assert wide is not None and 1200 < wide["width"] <= 1330
    with browser.reading(chromium, address, viewport={"width": 800, "height": 900}) as reader:
        page = reader.open("index.html")
        page.evaluate("document.querySelectorAll('main > .table td')[1].style.minWidth = '1500px'")
        page.set_viewport_size({"width": 790, "height": 900})
        expect(page.locator(table)).to_have_class(re.compile("scrolls"))
        first = page.locator(f"{table} >> td >> nth=0")
        before = first.bounding_box()
        page.evaluate("document.querySelector('main > .table').scrollLeft = 400")
        after = first.bounding_box()
        assert before is not None and after is not None and abs(before["x"] - after["x"]) < 2
    with browser.reading(chromium, address, viewport={"width": 390, "height": 900}) as reader:
        page = reader.open("index.html")
        cells = page.locator(f"{table} >> tbody tr >> nth=0 >> td")
        boxes = [box for box in (cells.nth(place).bounding_box() for place in range(cells.count())) if box]
        assert all(upper["y"] + upper["height"] <= lower["y"] + 1 for upper, lower in pairwise(boxes))
        assert reader.violations() == []


def test_the_map_fills_the_window_and_zooms(chromium: Browser, address: str) -> None:
    with browser.reading(chromium, address, viewport={"width": 1920, "height": 900}) as reader:
        page = reader.open("map.html")
        drawing = page.locator(".map svg >> nth=0")
        box = drawing.bounding_box()
        assert box is not None and box["width"] > 1400
        whole = drawing.get_attribute("viewBox") or ""
        page.get_by_role("button", name="Zoom in").first.click()
        part = drawing.get_attribute("viewBox") or ""
        assert float(part.split()[2]) < float(whole.split()[2])
        page.get_by_role("button", name="Show the whole map").first.click()
        assert [float(n) for n in (drawing.get_attribute("viewBox") or "").split()] == [float(n) for n in whole.split()]


def test_the_theme_button_shows_the_theme(chromium: Browser, address: str) -> None:
    with browser.reading(chromium, address, color_scheme="dark") as reader:
        page = reader.open("index.html")
        button = page.locator("[data-does=theme]")
        expect(button).to_have_attribute("aria-label", re.compile("dark. Change to light"))
        button.click()
        expect(button).to_have_attribute("aria-label", re.compile("light. Change to dark"))


def test_a_file_page_begins_with_its_purpose(reader: browser.Reader) -> None:
    page = reader.open("abacus/ledger.py_docs.html")
    expect(page.locator("details.metadata.side")).not_to_have_attribute("open", "")
    purpose, fields = page.locator("#file-purpose"), page.locator("details.metadata dl")
    expect(purpose).to_be_in_viewport()
    expect(fields).not_to_be_visible()
    page.click("details.metadata summary")
    expect(fields).to_be_visible()
    titles = page.locator("main h2, main h3").all_inner_texts()
    assert all(one != other for one, other in pairwise(titles))


def test_axe_finds_nothing_in_what_opens(chromium: Browser, address: str) -> None:
    with browser.reading(chromium, address) as reader:
        page = reader.open("abacus/rounding.py_source.html")
        page.keyboard.press("?")
        assert reader.violations() == []
        page.keyboard.press("Escape")
        page.locator(".line code a[data-c]").first.hover()
        page.wait_for_selector("#card")
        page.keyboard.press("/")
        page.keyboard.type("ledger")
        page.wait_for_selector(".hit")
        assert reader.violations() == []
    with browser.reading(chromium, address, viewport={"width": 360, "height": 740}) as reader:
        page = reader.open("abacus/doc.html")
        page.wait_for_selector("#tree .top-level", state="attached")
        page.click("[data-does=tree]")
        assert reader.violations() == []
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert reader.violations("color-contrast", "link-in-text-block") == []


def test_axe_would_find_something(reader: browser.Reader) -> None:
    page = reader.open("index.html")
    page.evaluate("document.querySelector('main p').style.color = '#ccc'")
    assert any("color-contrast" in one for one in reader.violations())


# --- names that mean harm


def test_hostile_names(reader: browser.Reader) -> None:
    page = reader.open("odd%20names/index.html")
    page.wait_for_selector("#tree .top-level")
    for number, name in enumerate(browser.HOSTILE):
        if "/" in name:
            continue
        page = reader.open("odd%20names/index.html")
        link = page.locator(f'main a[href$="{quote(name, safe="+,=-._~@")}_docs.html"]').first
        link.click()
        shown = name.replace("\u202e", "\\u202e")
        expect(page.locator("h1")).to_contain_text(shown)
        expect(page.locator("#tree .top-level [aria-current]")).to_have_text(shown)
        page.click(".views >> text=Source")
        expect(page.locator("#L1")).to_contain_text(f"{number}")
        assert page.locator("main b:has-text('bold')").count() == 0
    page.fill("#search", "odd_0")
    page.wait_for_selector(".hit")
    page.click(".hit >> nth=0")
    expect(page.locator("h1")).to_contain_text("alert(1)")


# --- live


def test_an_edit_shows_without_losing_the_place(chromium: Browser, root: Path, tmp_path: Path) -> None:
    made = tmp_path / "live"
    made.mkdir()
    lines = [f"def f{number}():\n    return {number}\n\n" for number in range(200)]
    program.write(made, {"many.py": "".join(lines)})
    store_update.build(str(made), 1)
    with browser.served(made, "--watch") as address, browser.reading(chromium, address) as reader:
        page = reader.open("many.py_source.html#L301")
        page.wait_for_selector("html[data-heard]")  # it listens before there is something to hear
        before = page.evaluate("document.getElementById('L301').getBoundingClientRect().top")
        program.write(made, {"many.py": "".join([*lines[:100], "def between():\n    return 'new'\n\n", *lines[100:]])})
        page.wait_for_selector("text=between", state="attached", timeout=90000)
        expect(page.locator("#said")).to_have_text("Updated")
        assert abs(page.evaluate("document.getElementById('L301').getBoundingClientRect().top") - before) < 80
        assert os.path.exists(made / ".concordance")


# --- files


def test_a_site_on_a_disk_is_read_and_followed(chromium: Browser, files: str) -> None:
    with browser.reading(chromium, files) as reader:
        page = reader.open("abacus/ledger.py_docs.html")
        expect(page.locator("#tree .top-level [aria-current]")).to_have_text("ledger.py")
        page.click(".views >> text=Source")
        page.locator(".line code a[data-c]:has-text('Overflow')").last.hover()
        expect(page.locator("#card")).to_contain_text("The sum left the range")
        page.click(".line code a.d:has-text('Ledger')")
        expect(page.locator("h1")).to_contain_text("Ledger")
        names = sorted(one for one in Path(unquote(files[7:])).rglob("*.html"))
        for one in names[:: max(1, len(names) // 30)]:
            page.goto(one.as_uri())
            assert reader.too_wide() <= 0, one


ASKED = {  # a question, and a name that is among the first answers
    "Ledger": "Ledger", "ledg": "Ledger", "sum_ex": "sum_exact", "exact": "sum_exact", "se": "sum_exact",
    "Ledgre": "Ledger", "Overflw": "Overflow", "fn:add": "add", "class:Ledger": "Ledger", "file:ledger": "ledger.py",
    "in:abacus Ledger": "Ledger", '"Ledger"': "Ledger", "abacus/ledger.py": "ledger.py", "Ledger.add": "add",
    "odd_0": "odd_0", "file:hash#": "hash#mark.py", "ключ": "ключ.py", "what?": "what?.py",
}  # fmt: skip


def test_a_site_on_a_disk_is_searched(chromium: Browser, files: str) -> None:
    with browser.reading(chromium, files) as reader:
        page = reader.open("search.html")
        for asked, name in ASKED.items():
            page.fill("#search", asked)
            program.wait_for(lambda asked=asked: page.evaluate("document.title").startswith(asked))  # type: ignore[misc]
            expect(page.locator(".hit .name b").first, asked).to_be_visible()
            program.wait_for(lambda name=name: name in page.locator(".hit .name b").all_inner_texts()[:4])  # type: ignore[misc]
            there = page.locator(".hit").first.get_attribute("href") or ""
            assert Path(unquote(there.partition("#")[0][7:])).exists(), there
        for asked in ('"open', "fn:", "x" * 5000, "zzqqxxyy"):
            page.fill("#search", asked)
            program.wait_for(lambda: page.locator(".hit").count() == 0)
            expect(page.locator("#count")).not_to_be_empty()
