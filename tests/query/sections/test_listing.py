"""Source pages: every name links to what `concord define` answers, every line is there, and markup in sources is text.
"""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from concordance import api
from concordance.base.characters import lines
from concordance.base.config import Book
from concordance.base.model import Trust
from concordance.facts.read import Facts
from concordance.query.index.repository import Index
from concordance.query.sections import listing as listings
from concordance.query.sections.listing import Listing, build_listing, page_count
from concordance.render.site import addresses
from concordance.render.site import source_listing as rendered
from concordance.render.site.addresses import SiteAddresses
from concordance.render.site.source_listing import render
from concordance.workflow import store_update

SAMPLE = Path(__file__).parents[2] / "sample"


class Shown:
    """The source pages of a repository."""

    def __init__(self, root: Path) -> None:
        store_update.build(str(root))
        self.repository = api.Repository(root, update=False)
        self.index = Index(Facts(str(root / ".concordance")), str(root), Book(source=False))
        self.paths = [row[1] for row in self.index.file_rows]
        self.addresses = SiteAddresses(self.paths, str(root), str(root / ".concordance/book"))

    def page(self, path: str, part: int = 1) -> Read:
        made = build_listing(self.index, path, part)
        return Read(made, render(made, self.addresses).html)


class Read(HTMLParser):
    """A page as a browser reads it: its lines, and the attributes of its tags."""

    def __init__(self, made: Listing, text: str) -> None:
        super().__init__()
        self.made, self.html = made, text
        self.lines: dict[int, str] = {}
        self.tags: list[tuple[str, dict[str, str]]] = []
        self._line, self._in_code = 0, False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if given.get("class") == "line":
            self._line = int(given["id"][1:])
            self.lines[self._line] = ""
        if tag == "code":
            self._in_code = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self._in_code = False

    def handle_data(self, data: str) -> None:
        if self._in_code and self._line:
            self.lines[self._line] += data.removesuffix("\n")  # of a line without letters, for who copies it

    def names(self) -> dict[str, dict[str, str]]:
        """The links of the page by their text."""
        found: dict[str, dict[str, str]] = {}
        assert self.made.text is not None
        for start, end, goal in self.made.names:
            found[self.made.text[start:end]] = self.made.goals[goal]._asdict()
        return found


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    root = tmp_path_factory.mktemp("sample") / "repo"
    shutil.copytree(SAMPLE, root)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        return Shown(root)


def test_every_name_leads_where_define_says(sample: Shown) -> None:
    asked = 0
    for path in sample.paths:
        made = build_listing(sample.index, path)
        file = sample.index.open_file(path)
        names = {start: made.goals[goal] for start, _, goal in made.names}
        for place, start in enumerate(file.columns[0]):
            row = file.row(place)
            answer = sample.repository.ask("define", f"{path}:{row.line}:{row.col}")
            first = answer.rows[0] if answer.rows else None
            goal = names.get(start)
            asked += 1
            if goal is None:  # nothing is known, or the name stands where it is bound
                assert first is None or (first["path"], first["line"], first["col"]) == (path, row.line, row.col), answer
            elif not goal.kind:
                assert first is None, answer
                assert goal.by == answer.note
            else:
                assert first is not None, (path, row, goal)
                assert (goal.path, goal.line) == (first["path"], first["line"]), (path, row, goal)
                if not goal.own:
                    assert (goal.trust.name.lower(), goal.by) == (first["trust"], first["by"])
    assert asked > 400


def test_every_line_of_every_file_is_there(sample: Shown) -> None:
    for path in sample.paths:
        page = sample.page(path)
        text = page.made.text
        if text is None:
            assert page.made.why
            continue
        wanted = lines(text)[:-1] if text.endswith("\n") else lines(text)
        shown = [line.removesuffix("\n") for line in page.lines.values()]  # an empty one has its end, to be copied
        assert shown == ([] if not text else wanted), path
        assert list(page.lines) == list(range(1, len(page.lines) + 1))


def test_every_link_resolves(sample: Shown) -> None:
    known = {sample.addresses.stem(path) for path in sample.paths}
    for path in sample.paths:
        here = sample.addresses.stem(path).rpartition("/")[0]
        for tag, given in sample.page(path).tags:
            address = given.get("href", "")
            if tag != "a" or address.startswith("#") or "_source.html" not in address:
                continue
            steps = [*here.split("/"), *unquote(address.partition("#")[0]).removesuffix("_source.html").split("/")]
            found: list[str] = []
            for step in steps:
                if step == "..":
                    found.pop()
                elif step not in (".", ""):
                    found.append(step)
            assert "/".join(found) in known, (path, address)


def test_markup_and_signs_in_sources_are_text(folder: Path) -> None:
    hostile = "def f(a='<script>alert(1)</script>'):\r\n    # <b>&amp; \u202e\x07\r\n    return a\r\n"
    (folder / "a.py").write_bytes(hostile.encode())
    (folder / "b<i>.py").write_text("from a import f\nf()\n")
    page = Shown(folder).page("a.py")
    assert page.lines == {
        1: "def f(a='<script>alert(1)</script>'):", 2: "    # <b>&amp; \\u202e\\u0007", 3: "    return a"
    }  # fmt: skip
    assert not {"script", "b<i>", "style"} & {tag for tag, _ in page.tags}
    assert not any(name in ("style", "onclick") for _, given in page.tags for name in given)


def test_where_names_lead(folder: Path) -> None:
    (folder / "a.py").write_text('import os\n\nclass Tree:\n    def grow(self, by):\n        return os.getpid() + by\n')
    (folder / "b.py").write_text("from a import Tree\n\n\ndef plant(tree: Tree):\n    tree.grow(1)\n    return tree\n")
    (folder / "c.h").write_text("int leaf(int n);\n")
    (folder / "c.c").write_text('#include "c.h"\nint leaf(int n) { return n; }\n')
    (folder / "lib").mkdir()
    (folder / "lib/e.md").write_text("# E\n")
    (folder / "README.md").write_text("See [lib/e.md](lib/e.md) and [it](lib/e.md).\n")
    (folder / "f.sh").write_text(". ./g.sh # ./g.sh\n")
    (folder / "g.sh").write_text("true\n")
    (folder / "d.c").write_text('#include "c.h"\nint main() { return leaf(1); }\n')
    shown = Shown(folder)
    tree = shown.page("a.py").names()
    assert (tree["Tree"]["own"], tree["Tree"]["page"]) == (True, True)
    assert tree["os"]["by"] == tree["getpid"]["by"] == "line 1 imports it from os: the language's own library (os)"
    assert (tree["by"]["kind"], tree["by"]["line"]) == ("parameter", 4)
    plant = shown.page("b.py").names()
    assert plant["grow"]["path"] == "a.py"
    assert (plant["Tree"]["trust"], plant["Tree"]["line"]) == (Trust.VIA_IMPORT, 3)
    assert (plant["plant"]["own"], plant["plant"]["page"]) == (True, False)
    used = shown.page("d.c").names()
    assert (used["leaf"]["path"], used["leaf"]["line"]) == ("c.c", 2)
    assert (used["c.h"]["kind"], used["c.h"]["path"]) == ("file", "c.h")
    assert shown.page("c.c").names()["leaf"]["page"]
    assert shown.page("README.md").names()["lib/e.md"]["path"] == "lib/e.md"
    assert [one["path"] for one in shown.page("f.sh").names().values()] == ["g.sh"]
    assert 'href="c.c_source.html#L2"' in shown.page("c.h").html.replace("./", "")


def test_findings_and_tests_in_the_margin(folder: Path) -> None:
    (folder / "a.py").write_text("def risky(x):\n    return eval(x)\n")
    (folder / "test_a.py").write_text("from a import risky\n\n\ndef test_risky():\n    assert risky('1')\n")
    page = Shown(folder).page("a.py")
    assert 'class="tests" href="a.py_defs/def-risky.html#tests" title="1 test refers to it"' in page.html.replace("./", "")
    found = [given for tag, given in page.tags if given.get("class") == "finding"]
    assert found
    assert all(given["href"].startswith("book/rules/") for given in found if "href" in given)
    assert page.lines[2] == "    return eval(x)"


def test_what_is_not_shown_says_why(folder: Path) -> None:
    (folder / "a.bin").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    (folder / "empty.py").write_text("")
    (folder / "b.py").write_text("x = 1\n")
    shown = Shown(folder)
    assert shown.page("a.bin").made.text is None
    assert "<p>PNG image, binary" in shown.page("a.bin").html
    assert "The file is empty." in shown.page("empty.py").html
    (folder / "b.py").write_text("x = 2 \n")
    assert "has changed since it was read" in shown.page("b.py").html


def test_long_files_have_parts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert listings.PAGE_LINES == addresses.LINES == rendered.LINES  # the number of a line says which part it stands on
    for module, name in ((listings, "PAGE_LINES"), (addresses, "LINES"), (rendered, "LINES")):
        monkeypatch.setattr(module, name, 100)
    (folder / "long.py").write_text("".join(f"x{n} = {n}\n" for n in range(150)) + "def last():\n    return x0\n")
    (folder / "use.py").write_text("from long import last\nlast()\n")
    shown = Shown(folder)
    first, second = shown.page("long.py"), shown.page("long.py", 2)
    assert (first.made.parts, min(first.lines), max(first.lines)) == (2, 1, 100)
    assert (min(second.lines), max(second.lines)) == (101, 152)
    assert second.lines[152] == "    return x0"
    assert 'href="long.py_source.html#L1"' in second.html
    assert 'href="long.py_source.2.html#L151"' in shown.page("use.py").html
    assert 'href="long.py_source.2.html"' in first.html
    assert '<i class="k">return</i>' in second.html
    assert [page_count(lines) for lines in (0, 100, 101)] == [1, 1, 2]
