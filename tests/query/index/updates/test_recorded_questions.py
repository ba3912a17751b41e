"""Everything that a page asks the store is recorded: a question that is not recorded fails these tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from concordance.base import plugins
from concordance.base.config import Book
from concordance.base.paths import parent_folders
from concordance.facts.read import Facts
from concordance.facts.updates.delta import Aspect, between, slot_of
from concordance.facts.updates.reads import ANYTHING, BELOW, NAMES_BELOW, WHOLE_TABLE
from concordance.query.index.repository import Index
from concordance.query.pages import PAGES
from concordance.workflow import store_update
from tests.support import books, editrepo
from tests.support.program import write

Keys = Callable[[Index, Any], Iterable[str]]


def _path(index: Index, path: str) -> list[str]:
    return [path]


def _file_of_id(index: Index, identity: int) -> list[str]:
    return [index.path_of(identity)]


def _files_of_ids(index: Index, ids: Iterable[int]) -> list[str]:
    return [index.path_of(one) for one in ids]


TEXT, RESOLVED, USED_BY = {Aspect.TEXT}, {Aspect.RESOLVED, Aspect.TEXT}, {Aspect.USED_BY}
NAMED = {Aspect.SYMBOLS_NAMED}
# By question: the aspects of which one must be recorded, and the keys under which, from the first argument.
RECORDED: dict[str, tuple[set[Aspect], Keys]] = {
    **dict.fromkeys(
        ("file", "file_and_ids", "of", "outline", "findings", "ends", "names_in", "flow", "symbols_in", "symbols_of",
         "terms_of", "ids"), (TEXT, _path),
    ),
    "id": ({Aspect.PATHS, Aspect.TEXT, Aspect.DISPLAY_NAMES}, _path),
    "links": ({Aspect.RESOLVED, Aspect.IMPORTS}, _path),  # or for the links to one file
    "used_from": (RESOLVED, _path),
    "users_of_file": (USED_BY, _path),
    "change": ({Aspect.HISTORY}, _path),
    "symbols_named": (NAMED, lambda index, name: [name]),
    **dict.fromkeys(("ids_named", "files_defining"), (NAMED, lambda index, names: names)),
    "unresolved_count": ({Aspect.RESOLVED}, lambda index, name: [WHOLE_TABLE]),
    "place": ({Aspect.TEXT, Aspect.DISPLAY_NAMES}, _file_of_id),
    "places": ({Aspect.TEXT, Aspect.DISPLAY_NAMES}, _files_of_ids),
    "users": (USED_BY, _file_of_id),
    "uses": (USED_BY, _files_of_ids),
    "users_of": (USED_BY, _files_of_ids),
    "used_from_elsewhere": (USED_BY, _files_of_ids),
    "overriding": (USED_BY, _file_of_id),
    "subclasses_of": (USED_BY, _file_of_id),
    "overridings_of_file": (USED_BY, _file_of_id),
    "subclasses_of_file": (USED_BY, _file_of_id),
    "overridden": (RESOLVED, _file_of_id),
    "bases_of": ({Aspect.BASES}, _file_of_id),
    "stated_bases": ({Aspect.BASES}, _path),
    "overrides_of_file": (RESOLVED, _file_of_id),
    "bases_of_file": (RESOLVED, _file_of_id),
    "files_with": ({Aspect.TERM}, lambda index, terms: list(terms)),
}  # fmt: skip
# Questions about the whole repository: only what all pages share, or a page that depends on everything, may ask them.
OF_THE_WHOLE = {
    "files", "symbols_named_by_macro", "symbols", "symbols_starting_with", "names_with_initials", "terms_like", "symbol_count", "distinct_names",
    "file_rows", "symbol_ids", "owners", "analysis_result", "analysis_marks", "tests", "ranks", "unresolved_total",
    "symbol_keys", "keys_of", "ids_by_name", "name_count", "files_without_keys", "used_from_files", "term_files", "all_terms", "read_count", "macros", "changes",
    "all_findings", "links_by_trust", "overrides",
}  # fmt: skip
OF_THE_STORE = {"cached_files", "touched_since", "reopen", "close", "meta", "path"}  # no page says what these return


def test_every_question_is_known() -> None:
    """A new question must be listed here with the way in which it is recorded."""
    asked = {name for name in dir(Facts) if not name.startswith("_") and callable(getattr(Facts, name))}
    assert asked - OF_THE_STORE == RECORDED.keys() | OF_THE_WHOLE


class Watch:
    """Records which questions are asked while reads are being recorded."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.index: Index | None = None
        self.asked: list[tuple[str, Any, set[int]]] = []  # the question, what about, and what was recorded around it
        self._inside = False
        for name in (*RECORDED, *OF_THE_WHOLE):
            patch.setattr(Facts, name, self._watched(name, getattr(Facts, name)))

    def _watched(self, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def asked(facts: Facts, *arguments: Any, **more: Any) -> Any:
            given = arguments[0] if arguments else None
            if isinstance(given, Iterator) or (isinstance(given, Iterable) and not isinstance(given, str | tuple)):
                given = list(given)
                arguments = (given, *arguments[1:])
            listener = self.index.reads.listener if self.index is not None else None
            if listener is not None and not self._inside:
                self.asked.append((name, given, listener))
            outside, self._inside = self._inside, True  # a question may ask another
            try:
                return plain(facts, *arguments, **more)
            finally:
                self._inside = outside

        return asked


@pytest.fixture(params=["sample", "mixed"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONCORDANCE_CACHE", str(tmp_path / "cache"))
    folder = books.copied(tmp_path) if request.param == "sample" else tmp_path / "mixed"
    if request.param == "mixed":
        write(folder, editrepo.OTHERS)
    store_update.build(str(folder), 1)
    return folder


def _missed(index: Index, asked: list[tuple[str, Any, set[int]]], page: set[int]) -> Iterator[str]:
    """Return what was asked but recorded neither for the page nor for the memoised value that asked for it."""
    if slot_of(ANYTHING, "") in page:
        return
    for name, given, listener in asked:
        if name in OF_THE_WHOLE:
            yield name
            continue
        aspects, keys = RECORDED[name]
        for key in keys(index, given):
            wide = [(what, folder) for what in (BELOW, NAMES_BELOW) for folder in (key, *parent_folders(key))]
            wide += [(aspect, one) for aspect in aspects for one in (key, WHOLE_TABLE)]
            if name == "links":
                wide += [(Aspect.LINKS_BETWEEN, between(key, other)) for other in index.ids_by_path]
            if not any(slot_of(aspect, one) in slots for aspect, one in wide for slots in (page, listener)):
                yield f"{name}({given!r}): {key}"


def test_what_a_page_asks_is_recorded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(monkeypatch)
    wrong: dict[str, set[str]] = {}
    with Facts(str(root / ".concordance")) as facts:
        subjects = Index(facts, str(root), Book())
        work = [(kind, about) for kind in plugins.names(PAGES) for about in plugins.load(PAGES, kind).subjects(subjects)]
        for kind, about in work:
            watch.index = index = Index(facts, str(root), Book(history=True))
            index.reads.values = {}  # as in a build: what is compared after an update is recorded apart from the page
            watch.asked.clear()
            with index.reads.recording() as slots:
                for _ in plugins.load(PAGES, kind).pages(index, about):
                    pass
            for one in _missed(index, list(watch.asked), slots):
                wrong.setdefault(one.partition("(")[0], set()).add(f"{kind} {about}: {one}"[:200])
    assert not wrong, "\n".join(f"{name}: {len(cases)}, such as {sorted(cases)[:3]}" for name, cases in wrong.items())
