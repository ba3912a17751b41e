"""HTML pages, read with an independent parser: they are well-formed, and no text of a repository becomes markup."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from concordance.base.blocks import (
    Anchor,
    Block,
    Cite,
    Code,
    Diagram,
    Doc,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Node,
    Page,
    Piece,
    Quote,
    Ref,
    Strong,
    Table,
    Text,
    To,
)
from concordance.base.characters import escape_hidden
from concordance.query.markup import markdown as authors
from concordance.render import author_markdown
from concordance.render.addresses import Addresses
from concordance.render.author_markdown import plain_html
from concordance.render.formats import markdown
from concordance.render.site import html
from concordance.render.site.addresses import SiteAddresses
from tests.support import books, golden_files, webpages

PATHS = ["a.py", "b/c.py", "b/d.yaml"]
SITE = SiteAddresses(PATHS, "/repo", "/repo/book", frozenset(["b/d.yaml"]))


def _page(*blocks: Block) -> html.Body:
    return html.render(Page(Ref(To.FILE, "a.py"), ["Documentation: ", Mono("a.py")], blocks), SITE)


def _read(*blocks: Block) -> webpages.Read:
    read = webpages.Read(_page(*blocks).html)
    assert not read.wrong
    return read


HOSTILE = [
    "<script>alert(1)</script>", "</code></pre><img src=x onerror=alert(1)>", "[x](javascript:alert(1))", "`", "```",
    "![a](http://e.org/a.png)", "[![a](http://e.org/a.png)](http://e.org)", "<http://e.org>", "&lt;b&gt; &#x202e; &#0;",
    "| a | b |\n|---|---|\n| <b> | `|` |", "- a\n- b\n\n  c\n    - d", "1. a\n3) b", "> q\n> - r", "# h\n\nt\n===\n\n---",
    "[x]: http://e.org 'y'\n\n[x]", "\0 \ufff9 \u202e \x1b[31m", "a\\\nb  \nc", "~~s~~ *e* **s** _e_ __s__", "\"' onclick=x",
    "[x](0-0)", "[x](%00-0)", "a](b", "<a href=\"javascript:x\">y</a>", "http://e.org/\"onclick=x", "[a](http://e.org/\"><b>)",
]  # fmt: skip
WORDS = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=30),
    st.text("ab _*`[]()<>&\\\n#-|~!$:\"'=1.\0\u202e", max_size=40),
)


# --- every page of a real repository


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONCORDANCE_CACHE", str(tmp_path_factory.mktemp("cache")))
        return golden_files.built(tmp_path_factory.mktemp("site"))


def test_every_page_of_the_sample_is_whole(sample: Path) -> None:
    index, addresses = webpages.opened(sample)
    paths = [row[1] for row in index.file_rows]
    book = Addresses(paths, str(sample), str(sample / "book"))
    seen: dict[str, webpages.Read] = {}
    for kind, page in webpages.pages(index):
        body = html.render(page, addresses)
        read = webpages.Read(body.html)
        where = f"{kind} {page.ref.path}"
        assert not read.wrong, where
        assert all(entry.anchor in read.ids for entry in body.outline), where
        assert read.tags["h1"] == 1, where
        seen[addresses.page(page.ref)] = read
        if kind in ("file", "folder", "subtree"):  # links of the book find here what they find there
            text = markdown.render(page, book).text
            missing = set(books.anchors(text)) - set(read.ids)
            assert not {name for name in missing if name.startswith("def-")}, where
    index.facts.close()
    assert any(read.tags["svg"] for read in seen.values())
    for address, read in seen.items():  # links find their sections on other pages, too
        for href in read.hrefs:
            path, _, at = href.partition("#")
            if "://" in href or not path or path.endswith("_source.html"):
                continue
            there = posixpath.normpath(posixpath.join(posixpath.dirname(address), unquote(path)))
            assert there in seen, f"{address}: {href}"
            assert not at or unquote(at) in seen[there].ids, f"{address}: {href}"


def test_every_diagram_is_drawn(sample: Path) -> None:
    index, addresses = webpages.opened(sample)
    for _, page in webpages.pages(index):
        graphs = sum(isinstance(block, Diagram) for block in page.blocks)
        if graphs:
            assert html.render(page, addresses).html.count('<figure class="graph">') == graphs
    index.facts.close()


# --- shapes


def test_headings_have_the_names_that_forges_give() -> None:
    body = _page(*(Heading(2, [text]) for text in ("Role & Use", "Files", "Files", "files 1", "Files-1", "Files")))
    names = [entry.anchor for entry in body.outline]
    assert names == ["role--use", "files", "files-1", "files-1-1", "files-1-2", "files-2"]
    assert not webpages.Read(body.html).wrong


def test_no_level_of_headings_is_left_out() -> None:
    text = _page(Heading(2, ["One"]), Heading(4, ["Two"], "Two"), Heading(2, ["Three"])).html
    assert '<h3 id="def-Two">' in text and '<h2 id="three">' in text


def test_two_things_of_one_name_have_one_id() -> None:
    _read(Items([Item(["x"], (), "K"), Item([Anchor("K"), "y"])]), Heading(3, ["z"], "K"))


def test_what_has_nothing_to_say_is_one_quiet_line() -> None:
    none = [Heading(3, ["Testing"]), Text(["It defines no functions that a test could call."])]
    examples = [Heading(3, ["Usage Examples"]), Text(["No usage example found."])]
    whole = _page(Heading(2, ["Testing & Usage"]), *none, *examples).html
    assert whole.count('<section class="quiet">') == 1 and whole.count("<h3") == 0
    assert 'id="testing"' in whole and 'id="usage-examples"' in whole
    for sentence in ("R is recognised but not analysed.", "Definitions are not extracted.", "Not searched."):
        assert '<section class="quiet">' in _page(Heading(2, ["Overview"]), Text([sentence])).html
    half = _page(Heading(2, ["Testing & Usage"]), Heading(3, ["Testing"]), Text(["3 tests."]), *examples).html
    assert half.count('<section class="quiet">') == 1 and half.count("<h3") == 2


def test_long_names_in_tables_break_between_their_parts() -> None:
    text = _page(Table(["File", "x"], [[[Mono(".devcontainer/a_file.py")], ["y"]]])).html
    assert ".devcontainer/<wbr>a_<wbr>file.py" in text


def test_names_with_what_they_say_are_a_list_of_definitions() -> None:
    read = _read(Items([Item([Strong("Path"), ": ", Mono("a.py")]), Item([Strong("Size"), ": 3 bytes"])]))
    assert (read.tags["dl"], read.tags["dt"], read.tags["li"]) == (1, 2, 0)
    assert "Path" in read.text and ":" not in read.text.replace("Documentation:", "")


def test_facts_of_a_definition_stand_each_by_itself() -> None:
    read = _read(Text([Cite("a.py", 3, 9), "extends ", Mono("A"), " · ", "calls ", Mono("f · g")]))
    assert read.tags["li"] == 2 and "·" in read.text


def test_lines_are_links_where_the_book_only_names_them() -> None:
    read = _read(Items([Item([Mono("x = 1"), " L3", Cite("a.py", 3), "–4"]), Item([" L3", Cite("b/d.yaml", 3)])]))
    assert read.hrefs == ["a.py_source.html#L3-L4"] and "L3–4" in read.text


def test_a_range_of_lines_is_one_link() -> None:
    read = _read(Heading(2, [Mono("class A"), " ", Line("a.py", 3), "–9", ", declared here"]), Text([Line("a.py", 3), "–x"]))
    assert read.hrefs[0] == "a.py_source.html#L3-L9" and "class A L3–9, declared here" in read.text
    assert read.hrefs[2] == "a.py_source.html#L3" and "L3–x" in read.text


@settings(max_examples=100, deadline=None)
@given(WORDS, st.sampled_from(["python", "c++", "bash", "yaml", "json", "rust", "toml", "markdown", "cmake", "x"]))
def test_code_is_shown_letter_by_letter(text: str, language: str) -> None:
    assert _read(Code(text, language)).text.endswith(f"{escape_hidden(text)}\n".replace("\r", "")) or "\r" in text


def test_columns_of_numbers() -> None:
    text = _page(Table(["File", "Lines", "Of"], [[["a"], ["1,204"], ["3 %"]], [["b"], ["–"], [Mono("3")]]])).html
    assert 'class="right-2"' in text and 'scope="col"' in text


def test_long_lists_keep_every_entry() -> None:
    read = _read(Items([Item([str(number)]) for number in range(1000)]))
    assert read.tags["li"] == 1000


def test_mathematics_that_is_not_understood_stays_as_it_was_written() -> None:
    read = _read(Doc(["It is $`\\foo{a_i} < b`$ and costs $5 or $6; **see** [x](http://e.org/?a=1&b=2)."]))
    assert "\\foo{a_i} < b" in read.text and "$`" not in read.text and "$5 or $6" in read.text
    assert "http://e.org/?a=1&b=2" in read.hrefs


def test_pages_of_the_book_are_called_as_they_are_here() -> None:
    refs = [Ref(To.FILE, "a.py", "", "a.py_docs.md"), Ref(To.INDEX, "b", "", "index.md"), Ref(To.FILE, "b/c.py", "", "x.md")]
    read = _read(Text([refs[0], " ", refs[1], " ", refs[2]]))
    assert "a.py_docs.html index.html x.md" in read.text


def test_lines_of_keywords_are_those_of_their_file() -> None:
    page = Page(Ref(To.KEYWORDS, "a.py"), ["Keywords"], [Items([Item([Mono("x"), " L3", " · 2× here"])])])
    assert webpages.Read(html.render(page, SITE).html).hrefs == ["a.py_source.html#L3"]


# --- text of others


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words(text: str) -> None:
    _read(*_everywhere(text))


@settings(max_examples=150, deadline=None)
@given(WORDS)
def test_any_words_stay_words(text: str) -> None:
    read = _read(*_everywhere(text))
    assert escape_hidden(text).replace("\r", "") in read.text.replace("\r", "") or not text


def _everywhere(text: str) -> list[Block]:
    """Put a text in every place that text can have; in an author's text it may be Markdown, but never HTML."""
    ref, line = Ref(To.FILE, "b/c.py", "", text), Line("a.py", 1, 2, text)
    pieces: list[Piece] = [text, Mono(text), Strong(text), Anchor(text), ref, line, Cite("a.py", 1)]
    nodes = [Node("1", text), Node("2", text, text, True, ref)]
    return [
        Heading(2, pieces), Heading(3, [text], text), Text(pieces), Items([Item(pieces, (), text)]), Code(text, text),
        Table([text], [[pieces]]), Quote([Doc([text, ref, text])]), Doc([ref, text]), Doc(authors(text, "python")),
        Diagram(nodes, [("1", "2", text), ("2", "2", text), ("2", "1", "")]),
    ]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4).map("\n".join))
@example("a\n- b")
@example("- a\nb")
@example("**a**b **c:** d")
@example("x_ _y_ z__a__b")
@example("` a ` and ``b``")
@example("a [b] c [d](e)")
def test_plain_words_are_what_the_parser_makes_of_them(text: str) -> None:
    """The fast path returns what the parser returns, or leaves the text to the parser."""
    text = escape_hidden(text)
    found = plain_html(text, ())
    assert found is None or found == author_markdown._Writer("", [], lambda ref: "").html(text)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(WORDS, st.just(Ref(To.FILE, "b/c.py", "", "c.py"))), min_size=1, max_size=5))
def test_our_links_stand_where_they_are_and_nowhere_else(pieces: list[str | Ref]) -> None:
    made = author_markdown.doc_to_html(pieces, lambda ref: '<a href="ours">c.py</a>')
    read = webpages.Read(made)
    assert not read.wrong
    assert read.hrefs.count("ours") <= sum(isinstance(piece, Ref) for piece in pieces)
    if not any(isinstance(piece, Ref) for piece in pieces):
        assert "ours" not in read.hrefs


def test_our_links_are_all_there_in_plain_text() -> None:
    link = Ref(To.FILE, "b/c.py", "", "c.py")
    read = _read(Doc(["See ", link, ", ", link, "\n\n- **a**: ", link, "\n- b\n\n1. ", link, " *x* [y](http://e.org)"]))
    assert read.hrefs.count("b/c.py_docs.html") == 4
