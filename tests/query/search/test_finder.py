"""Search: names before text, sources before tests, typing errors and odd queries; and the full-text index behind it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import concordance
from concordance.api import Repository
from concordance.base.errors import UserError
from concordance.facts.fulltext import index
from concordance.facts.fulltext.words import WordNormalizer
from concordance.query.search.request import parse_filters
from tests.support import program
from tests.support.program import age, ask, build, concord, write

FILES = {
    "pkg/__init__.py": "",
    "pkg/loader.py": '''\
"""Loads batches of samples."""

LIMIT = 3


class DataLoader:
    """Combines a dataset and a sampler, and iterates over the dataset."""

    def next_batch(self, size):
        """Collates the next samples into one padded block."""
        return [self.source.read() for _ in range(size)]

    def reset(self):
        self.place = 0


class DataLoaderIter:
    """Walks a loader once."""


def load_state_dict(state):
    return DataLoader()
''',
    "pkg/pool.py": '''\
"""Pooling over windows of a picture."""


def max_pool(picture, ceil_mode=False):
    """Takes the largest value of each window."""
    edge = picture.size
    if ceil_mode:
        # the last window may hang over the edge of the picture
        edge += 1
    return edge


def mean_pool(picture):
    return picture
''',
    "pkg/net/http_server.py": "class HTTPServer:\n    def serve_forever(self):\n        pass\n",
    "pkg/net/client.py": "from pkg.net.http_server import HTTPServer\n\nserver = HTTPServer()\nserver.serve_forever()\n",
    "tests/test_pool.py": '''\
from pkg.pool import max_pool


def test_ceil_mode():
    """The largest value of each window, with the window over the edge of the picture."""
    assert max_pool(picture(3), ceil_mode=True) == 4


def test_mean_of_window_over_the_edge():
    assert max_pool(1)
''',
    "testing/pools.py": "def test_one():\n    max_pool()\n\n\ndef test_two():\n    max_pool()\n",
    "docs/guide.md": "# Guide\n\n## Pooling pictures\n\nThe window may hang over the edge of the picture.\n",
    "docs/changes.md": "# Changes\n\n- Fixed the ceil mode of the largest window over the edge.\n",
    "conf/settings.yml": "loader:\n  batch: 3\n",
    "lib/naïve.py": "def größe():\n    return 'über den Rand'\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with its store; no test here changes it."""
    root = tmp_path_factory.mktemp("search")
    program.git(root, "init", "-q", "-b", "main")
    write(root, FILES)
    age(root)
    concord("build", root, env={"CONCORDANCE_CACHE": str(tmp_path_factory.mktemp("cache"))})
    return root


@pytest.fixture(scope="module")
def repository(made: Path) -> Iterator[Repository]:
    with concordance.open(made, update=False) as opened:
        yield opened


def found(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{row['path']}:{row['line']}" for row in rows]


def symbols(rows: list[dict[str, Any]]) -> list[Any]:
    return [row["symbol"] for row in rows]


# --- names


def test_the_exact_name_is_first(repository: Repository) -> None:
    rows = repository.search("DataLoader")
    assert symbols(rows)[:2] == ["DataLoader", "DataLoaderIter"]
    assert rows[0] | {"score": 0} == {
        "path": "pkg/loader.py", "line": 6, "symbol": "DataLoader", "kind": "class", "score": 0,
        "snippet": "class DataLoader:", "called": "pkg.loader.DataLoader",
    }  # fmt: skip


def test_a_prefix_finds_the_names_that_begin_so(repository: Repository) -> None:
    assert symbols(repository.search("DataLo"))[:2] == ["DataLoader", "DataLoaderIter"]
    assert symbols(repository.search("dataLo"))[:1] == ["DataLoader"]


def test_case_does_not_matter(repository: Repository) -> None:
    assert symbols(repository.search("dataloader"))[0] == "DataLoader"
    assert symbols(repository.search("httpserver"))[0] == "HTTPServer"


@pytest.mark.parametrize(
    ("question", "symbol"),
    [
        ("data loader", "DataLoader"),
        ("http server", "HTTPServer"),
        ("load state dict", "load_state_dict"),
        ("state dict", "load_state_dict"),
        ("max pool", "max_pool"),
        ("serve forever", "HTTPServer.serve_forever"),
        ("DataLoader.next_batch", "DataLoader.next_batch"),
    ],
)
def test_parts_of_names(repository: Repository, question: str, symbol: str) -> None:
    assert symbols(repository.search(question))[0] == symbol


@pytest.mark.parametrize(("typed", "meant"), [("DataLaoder", "DataLoader"), ("max_pol", "max_pool"), ("htpserver", "HTTPServer")])
def test_typing_errors(repository: Repository, typed: str, meant: str) -> None:
    assert meant in symbols(repository.search(typed))[:2]


def test_what_is_typed_wrongly_is_meant_before_words_that_are_like_it(repository: Repository) -> None:
    assert symbols(repository.search("DataLoadre"))[0] == "DataLoader"
    assert symbols(repository.search("max_pol"))[0] == "max_pool"


def test_of_names_that_differ_in_case_the_one_as_typed_is_meant(tmp_path: Path) -> None:
    write(tmp_path, {"rows.py": "class Parse_rows:\n    pass\n\n\ndef parse_rows():\n    pass\n"})
    build(tmp_path)
    with concordance.open(tmp_path) as found:
        assert found.ask("search", "parse_rowz").note == "Showing results for parse_rows"
        assert found.ask("search", "Parse_rowz").note == "Showing results for Parse_rows"


def test_the_answer_says_what_it_searched_for_instead(repository: Repository) -> None:
    assert repository.ask("search", "DataLaoder").note == "Showing results for DataLoader"
    assert repository.ask("search", "data laoder").note == "Showing results for data loader"
    assert not repository.ask("search", "DataLoader").note


def test_words_of_the_scope_and_the_path_count_with_the_name(repository: Repository) -> None:
    assert symbols(repository.search("loader reset"))[0] == "DataLoader.reset"
    assert repository.search("net client")[0]["path"] == "pkg/net/client.py"


def test_what_users_import_comes_before_fields_and_local_functions(tmp_path: Path) -> None:
    files = {
        "lib/core/dispatch.py": "class Dispatcher:\n    pass\n",
        "lib/base.py": "class Base:\n    dispatcher = None\n",
        "tests/test_core.py": "def test_it():\n    def dispatcher():\n        pass\n    return dispatcher\n",
        "docs/dispatcher.md": "# The dispatcher\n\nHow calls are dispatched.\n",
    }
    write(tmp_path, files)
    with concordance.open(tmp_path) as repository:
        rows = repository.search("dispatcher")
    assert found(rows)[:2] == ["lib/core/dispatch.py:1", "docs/dispatcher.md:1"]
    assert [row["path"] for row in rows].index("lib/base.py") < [row["path"] for row in rows].index("tests/test_core.py")


@pytest.mark.parametrize("question", ["api: implement Deserialize for Globs", "deprecate before_first_request"])
def test_a_change_is_not_taken_for_a_name(tmp_path: Path, question: str) -> None:
    write(tmp_path, {
        "globs.py": "class Globs:\n    pass\n\n\nclass BeforeFirstRequestCallable:\n    pass\n",
        "app.py": "def run():\n    # implement Deserialize for Globs, deprecate\n    return before_first_request(deserialize)\n",
    })  # fmt: skip
    build(tmp_path)
    with concordance.open(tmp_path) as found:
        assert found.search(question)[0]["path"] == "app.py"


def test_a_shortened_word_and_a_verb_in_a_name(tmp_path: Path) -> None:
    files = {
        "cache.py": "class Cache:\n    pass\n\n\ndef get_cache_dir():\n    pass\n",
        "settings.py": "def read_settings():\n    pass\n\n\ndef find_settings():\n    pass\n",
        "other.py": "def cached_resolve():\n    pass\n\n\ndef cached_compile():\n    pass\n",
    }
    write(tmp_path, files)
    build(tmp_path)
    with concordance.open(tmp_path) as opened:
        assert opened.search("cache directory")[0]["symbol"] == "get_cache_dir"
        assert opened.search("how does it find settings")[0]["symbol"] == "find_settings"


def test_a_typing_error_is_corrected_to_the_word_that_is_most_like_it(tmp_path: Path) -> None:
    files = {
        "flow.js": "export function then(one) { return one }\n",
        "check.js": "// The token of a user.\nexport const checkTokenOfUser = 1\n",
    }
    write(tmp_path, files)
    build(tmp_path)
    with concordance.open(tmp_path) as opened:
        answer = opened.ask("search", "user tken")
    assert answer.note == "Showing results for user token"
    assert answer.rows[0]["symbol"] == "checkTokenOfUser"


def test_a_file_is_shown_with_a_line_that_says_something(tmp_path: Path) -> None:
    files = {
        "lib/router.ts": "import { a } from './a'\nimport type { B } from './b'\n\n/**\n * Routes requests.\n */\n",
        "bin/start": "#!/usr/bin/env bash\n# -*- mode: sh -*-\n\n# Starts the router.\n",
    }
    write(tmp_path, files)
    build(tmp_path)
    with concordance.open(tmp_path) as opened:
        shown = {row["path"]: row["snippet"] for row in opened.search("router") + opened.search("start")}
    assert shown["lib/router.ts"] == "* Routes requests."
    assert shown["bin/start"] == "# Starts the router."


def test_folders_and_documents_are_results_of_their_kind(repository: Repository) -> None:
    assert next((row["path"], row["kind"]) for row in repository.search("pkg/net")) == ("pkg/net", "folder")
    assert next((row["path"], row["kind"]) for row in repository.search("guide")) == ("docs/guide.md", "file")


def test_a_question_is_answered_by_documents_first(tmp_path: Path) -> None:
    files = {
        "engine/autograd.py": '"""Records operations."""\n\n\ndef record(operation):\n    return operation\n',
        "docs/notes/autograd.md": "# Autograd mechanics\n\nHow autograd works: it records operations, and plays them back.\n",
    }
    write(tmp_path, files)
    with concordance.open(tmp_path) as repository:
        assert repository.search("autograd")[0]["path"] == "engine/autograd.py"
        assert repository.search("how does autograd work")[0]["path"] == "docs/notes/autograd.md"


def test_nothing_is_listed_twice(repository: Repository) -> None:
    for question in ("pool", "DataLoader", "max_pool", "window", "pkg.pool.max_pool"):
        rows = repository.search(question)
        assert len({(row["path"], row["symbol"]) for row in rows}) == len(rows)


def test_acronyms_and_single_capitals_in_names_and_words_that_are_only_parts_of_names(tmp_path: Path) -> None:
    code = "class BaseHTTPLayer:\n    pass\n\n\n# The etag of a body.\ndef compileETag():\n    pass\n\n\nclass RedirectReply:\n    pass\n"
    write(tmp_path, {"layers.py": code, "more.py": "class Reply:\n    pass\n"})
    build(tmp_path)
    with concordance.open(tmp_path) as found:
        assert symbols(found.search("BHL")) == symbols(found.search("bhttpl")) == ["BaseHTTPLayer"]
        assert symbols(found.search("etag")) == ["compileETag"]
        answer = found.ask("search", "redirct reply")
        assert (symbols(answer.rows)[0], answer.note) == ("RedirectReply", "Showing results for redirect reply")


def test_initials(repository: Repository) -> None:
    assert "DataLoaderIter" in symbols(repository.search("DLI"))[:1]
    assert "DataLoaderIter" in symbols(repository.search("dli"))[:1]
    assert "DataLoader" in symbols(repository.search("DL"))
    assert symbols(repository.search("fn:DLI")) != ["DataLoaderIter"]


def test_prefixes_say_what_is_asked_for(repository: Repository) -> None:
    assert {row["kind"] for row in repository.search("class:loader")} == {"class"}
    assert {row["kind"] for row in repository.search("fn:pool")} <= {"function", "method"}
    assert symbols(repository.search("fn: max_pool"))[0] == "max_pool"
    assert {row["kind"] for row in repository.search("file:pool")} == {"file"}
    assert repository.search("kw:loader")[0]["path"] == "conf/settings.yml"
    assert {row["kind"] for row in repository.search("kw:pooling")} <= {"heading", "concept", "key", "label"}
    assert {row["path"] for row in repository.search("in:pkg/net server")} == {"pkg/net/http_server.py", "pkg/net/client.py"}
    assert repository.search("in:pkg/net fn:serve_forever")[0]["path"] == "pkg/net/http_server.py"
    assert repository.search('in:"pkg/net" HTTPServer') == repository.search("HTTPServer", in_="pkg/net")
    with pytest.raises(UserError, match="no folder nowhere"):
        repository.search("in:nowhere pool")
    for nothing in ("fn:", "in:pkg", "kw: in:pkg", 'class:""'):
        with pytest.raises(UserError, match="nothing to search"):
            repository.search(nothing)


def test_what_only_looks_like_a_prefix_is_a_word(repository: Repository) -> None:
    assert parse_filters("class::max_pool", "", "", 1).kinds == frozenset()
    assert parse_filters("file:///pkg/pool.py", "", "", 1).question == "file:///pkg/pool.py"
    long = "the mean of a window over the edge is wrong, see class: max_pool in: pkg"
    assert parse_filters(long, "", "", 1).question == long
    assert parse_filters("begin:x", "", "", 1).question == "begin:x"


def test_a_wrong_word_among_right_ones(repository: Repository) -> None:
    assert repository.search("DataLaoder zzyzx")[0]["path"] == "pkg/loader.py"


def test_a_file_is_shown_at_a_line_with_all_words(tmp_path: Path) -> None:
    write(tmp_path, {"debug/level.py": '"""Levels."""\n\nimport os\n\nos.environ.get("DEBUG_LEVEL")\n'})
    build(tmp_path)
    [row] = ask("search", "DEBUG_LEVEL", "--kind", "file", "--repo", tmp_path)
    assert (row["path"], row["line"]) == ("debug/level.py", 5)


def test_files_by_name_and_path(repository: Repository) -> None:
    for question in ("pool.py", "pkg/pool.py", "pool"):
        row = repository.search(question)[0]
        assert (row["path"], row["kind"], row["line"]) == ("pkg/pool.py", "file", 1)


def test_a_heading(repository: Repository) -> None:
    rows = repository.search("Pooling pictures", kind="heading")
    assert [(row["path"], row["symbol"], row["kind"]) for row in rows] == [
        ("docs/guide.md", "Guide.Pooling pictures", "heading")
    ]


# --- words


def test_a_description_finds_the_source_before_its_tests_and_lists_of_changes(repository: Repository) -> None:
    rows = repository.search("wrong result of the largest window in ceil mode when it hangs over the edge of the picture")
    paths = [row["path"] for row in rows]
    assert paths[0] == "pkg/pool.py"
    assert {"tests/test_pool.py", "docs/changes.md"} <= set(paths)
    assert rows[0]["symbol"] == "max_pool"
    assert len(paths) == len(set(paths)), "one row a file"


def test_tests_come_first_where_they_are_asked_for(repository: Repository) -> None:
    assert repository.search("test of ceil mode")[0]["path"] == "tests/test_pool.py"
    assert [row["path"] for row in repository.search("ceil mode", in_="tests")] == ["tests/test_pool.py"]


def test_a_file_of_tests_is_known_by_its_functions(repository: Repository) -> None:
    paths = [row["path"] for row in repository.search("one max pool two")]
    assert paths.index("pkg/pool.py") < paths.index("testing/pools.py")


def test_documentation_leads_to_what_it_is_of(repository: Repository) -> None:
    row = repository.search("Collates the next samples into one padded block")[0]
    assert (row["path"], row["symbol"]) == ("pkg/loader.py", "DataLoader.next_batch")
    assert row["snippet"] == '"""Collates the next samples into one padded block."""'


def test_a_phrase_must_stand_so(repository: Repository) -> None:
    assert found(repository.search('"hang over the edge of the picture"')) == ["pkg/pool.py:8", "docs/guide.md:5"]
    assert repository.search('"edge the over hang"') == []
    assert [row["path"] for row in repository.search('window "hang over" "last window"')] == ["pkg/pool.py"]


def test_quotes_in_a_long_description_are_but_words(repository: Repository) -> None:
    rows = repository.search('The largest value of each "windw" is wrong in ceil mode when a window hangs over the edge')
    assert rows[0]["path"] == "pkg/pool.py"


def test_kind(repository: Repository) -> None:
    rows = repository.search("pool", kind="function")
    assert {row["kind"] for row in rows} == {"function"}
    assert {"max_pool", "mean_pool"} & set(symbols(rows))
    assert symbols(repository.search("batch", kind="method")) == ["DataLoader.next_batch"]
    assert {row["kind"] for row in repository.search("loader", kind="file")} == {"file"}
    with pytest.raises(UserError, match="kind cannot be"):
        repository.search("pool", kind="pond")


def test_in_a_folder(repository: Repository) -> None:
    for folder in ("pkg/net", "pkg/net/", "./pkg/net"):
        rows = repository.search("server", in_=folder)
        assert rows
        assert all(row["path"].startswith("pkg/net/") for row in rows)
    with pytest.raises(UserError, match="no folder nowhere"):
        repository.search("server", in_="nowhere")


def test_number(repository: Repository) -> None:
    assert len(repository.search("pool", number=2)) == 2
    assert repository.search("picture", number=1) == repository.search("picture")[:1]


def test_letters_of_other_languages(repository: Repository) -> None:
    assert repository.search("größe")[0]["path"] == "lib/naïve.py"
    assert repository.search("über den Rand")[0]["path"] == "lib/naïve.py"


def test_an_answer_is_the_same_every_time(made: Path, repository: Repository) -> None:
    for question in ("pool", "window edge picture", "DataLoader", '"the edge"'):
        first = repository.search(question)
        with concordance.open(made, update=False) as other:
            assert other.search(question) == first
        scores = [row["score"] for row in first]
        assert scores == sorted(scores, reverse=True)


# --- wrong and odd questions


@pytest.mark.parametrize("question", ["", "   ", '""', '" "', "''"])
def test_nothing_to_search_for(repository: Repository, question: str) -> None:
    with pytest.raises(UserError, match="nothing to search for"):
        repository.search(question)


def test_what_nobody_says(repository: Repository) -> None:
    answer = repository.ask("search", "qwzxv")
    assert (answer.rows, answer.total) == ([], 0)
    assert f"{len(FILES)} files searched" in answer.note
    near = repository.ask("search", "DataLoaderIterable", kind="macro")
    assert near.rows == []
    assert "nearest names: DataLoaderIter" in near.note


@pytest.mark.parametrize(
    "question",
    ["pool AND OR NOT", "body:pool", "pool*", "*", "(", "pool)", "[a TO z]", "pool^2", "~pool", '"', 'pool "edge', "\\", "a\\b\\",
     "pool\x00edge", "🙂", "\udc80 pool", "%s %d", "' OR 1=1 --", ".", "..", "::", "#", "a.b.", "-", "+pool -edge", "/.*/", "<pool>",
     "x" * 10_000, "pool edge " * 5_000, "{}", "$(ls)", "\n\t\r", "ﬀ ﬁ", "漢字 かな", "e\u0301", "__", "_", "0", "3.14"],
)  # fmt: skip
def test_hostile_questions(repository: Repository, question: str) -> None:
    try:
        rows = repository.search(question)
    except UserError:
        return
    assert isinstance(rows, list)
    assert all(row["path"] in FILES for row in rows)


def test_on_the_command_line(made: Path) -> None:
    rows = ask("search", "max", "pool", "-n", "1", "--repo", made)
    assert [(row["path"], row["symbol"]) for row in rows] == [("pkg/pool.py", "max_pool")]
    assert "nothing to search for" in concord("search", " ", "--repo", made, code=2).stderr
    said = concord("search", "qwzxv", "--repo", made)
    assert (said.stdout.strip(), "no matches for qwzxv" in said.stderr) == ("none", True)
    said = concord("search", "qwzxv", "--in", "pkg", "--kind", "class", "--repo", made)
    assert "no matches of kind class for qwzxv: " in said.stderr and " in pkg searched" in said.stderr


# --- the index


def test_it_follows_the_files(repo: Path) -> None:
    build(repo)
    assert ask("search", "chlorophyll", "--repo", repo) == []
    write(repo, {"lib/leaf.py": "def chlorophyll():\n    pass\n", "a.py": "class Bush:\n    pass\n"})
    assert symbols(ask("search", "chlorophyll", "--repo", repo)) == ["chlorophyll"]
    assert symbols(ask("search", "Bush", "--repo", repo))[0] == "Bush"
    assert all(row["path"] != "a.py" for row in ask("search", "tree grow", "--repo", repo))
    (repo / "lib/leaf.py").unlink()
    assert ask("search", "chlorophyll", "--repo", repo) == []


@pytest.mark.parametrize("harm", ["gone", "empty", "other version", "shelf gone", "a file", "cut", "pieces gone"])
def test_an_index_that_is_lost_is_made_anew(repo: Path, harm: str) -> None:
    build(repo)
    home = repo / ".concordance/text"
    if harm in ("gone", "a file"):
        shutil.rmtree(home)
        if harm == "a file":
            home.write_text("no index")
    elif harm == "empty":
        for top, _, names in os.walk(home):
            for name in names:
                Path(top, name).write_bytes(b"")
    elif harm == "other version":
        (home / "made").write_text("another")
    elif harm in ("cut", "pieces gone"):  # what says that it is whole is whole
        for path in home.glob("source/files/*.*"):
            os.truncate(path, path.stat().st_size // 2) if harm == "cut" else path.name == "meta.json" or path.unlink()
        write(repo, {"lib/b.py": "from a import Tree\n"})
    else:
        shutil.rmtree(home / "source/pieces")
    assert ask("search", "tree", "grow", "--repo", repo)[0]["path"] == "a.py"
    assert index.is_intact(str(repo / ".concordance"))


def test_a_build_that_ends_early_leaves_nothing(repo: Path) -> None:
    build(repo)
    (repo / ".concordance/text.999.new").mkdir()
    write(repo, {"a.py": "x = 1\n"})
    shutil.rmtree(repo / ".concordance/text")
    build(repo)
    assert sorted(p.name for p in (repo / ".concordance").iterdir() if p.name.startswith("text")) == ["text"]


def test_words() -> None:
    words = WordNormalizer()
    assert words.of("HTTPServer_error") == "http server error httpservererror"
    assert words.of("getQuerysets of the 404 pages").split() == ["get", "queryset", "getqueryset", "404", "page"]
    assert words.of("b7b7df5f9c4e65a0d1f2e3c4b5a697 12345678") == " "
    assert words.of("漢字だ").split() == ["漢字", "字だ"]
    assert words.chunks("\n" * 25 + "late words\n") == [(21, "late word")]


@pytest.mark.parametrize(
    ("british", "american"),
    [("colour", "color"), ("colours", "colors"), ("behaviour", "behavior"), ("initialised", "initialized"),
     ("serialisation", "serialization")],
)  # fmt: skip
def test_british_and_american_spelling_are_the_same(british: str, american: str) -> None:
    assert WordNormalizer().of(british) == WordNormalizer().of(american)


def test_what_tests_and_bundles_quote_is_found_in_the_source(tmp_path: Path) -> None:
    words = "the gear turned the wrong way around"
    write(tmp_path, {
        "lib/gear.js": f"export function turn(gear) {{\n  gear.note = '{words}';\n}}\n",
        "test/gear.spec.js": f"it('{words}', () => {{ expect(turn).toBe('{words}'); }});\n" * 4,
        "dist/gear.js": f"function turn(gear) {{ gear.note = '{words}'; }}\n" * 3 + "//# sourceMappingURL=gear.js.map\n",
        "test/only.spec.js": "it('spins a wheel for as long as nobody stops it', () => {});\n",
    })  # fmt: skip
    build(tmp_path)
    with concordance.open(tmp_path) as repository:
        assert repository.search(words)[0]["path"] == "lib/gear.js"
        assert repository.search("spins a wheel for as long as nobody stops it")[0]["path"] == "test/only.spec.js"
