"""The tables that pages share, each look-up as a number: what differs from the last time has changed for its readers.

In: an index, the numbers of the last time, and what the store says has changed since. Out: the numbers as they are now,
and the slots of all that changed. Of tables that only hang on what has not changed, the last numbers are taken. The
names of the tables are those by which look-ups are heard (`reads`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from zlib import crc32

from concordance.base.config import Note
from concordance.base.model import Category
from concordance.facts.page_reads import Digests
from concordance.facts.public_name_codec import PUBLIC
from concordance.facts.store_delta import Aspect, band, slot
from concordance.query.book.chapter_sections import stands
from concordance.query.book.chapters import chapter_of, plan
from concordance.query.descriptions.guide_entries import GUIDES, entries
from concordance.query.folders import above
from concordance.query.folders.repository import name_of
from concordance.query.index.repository import Index
from concordance.query.index.rule_totals import findings
from concordance.query.index.test_commands import is_setting
from concordance.query.index.updates.link_tables import link_tables, number
from concordance.query.index.updates.reads import ANY, BELOW, EVERY, MOVED, NAMES_BELOW, Touched, lasting, unless
from concordance.query.names.public_names import public_names
from concordance.query.search.related_files import stem_of

# The tables by path whose changes pages of the folders around are made again for.
_STIRRING = frozenset(("ranks", "tests", "uses", "users", "used", "command"))
_OF_LINKS = (
    "uses", "users", "fan", "edges", "bands", "ranks", "layers", "cycles", "clusters", "tests", "used", "linked",
)  # fmt: skip


def digests(index: Index, before: Mapping[str, Digests], touched: Touched | None) -> dict[str, Digests]:
    """All tables; `touched` is None where nothing is known of the last time."""
    with index.reads.unheard():
        found = _of_paths(index, before, touched)
        found["passes"] = {**index.marks, "bases": _bases_mark(index)}
        same = touched is not None and not touched.get(Aspect.INTO) and before.get("passes") == found["passes"]
        found |= {name: before[name] for name in _OF_LINKS} if same else link_tables(index).of(index)
        homes = index.folders
        found["chapter"] = {folder: number(chapter_of(index, folder)) for folder in homes}
        found["chapters"] = _chapters(index)
        found["findings"] = {rule: number(list(files.items())) for rule, files in findings(index).items()}
        found["title"] = {"": number(name_of(index))}
        found["owners"] = {"": number(index.owners)}
        found["notes"] = _notes(index)
        found["all tests"] = {"": number(index.tests_told)}
        found["read"] = {"": index.census.read}
        found[PUBLIC] = {path: crc32(row) for path, row in public_names(index).rows.items()}
        renamed = touched is None or touched[Aspect.NAME] or touched[Aspect.CONCEPT]
        if renamed or "shard" not in before or "alphabet" in vars(index):
            found["shard"] = index.alphabet.shards.marks
            found["shards"] = {"": number(list(found["shard"]))}
        else:
            found |= {"shard": before["shard"], "shards": before["shards"]}
            index.known_letters = list(before["shard"])
        return found


@lasting(unless(MOVED))
def _bases_mark(index: Index) -> int:
    return number(index.bases)


def _chapters(index: Index) -> Digests:
    """How each chapter stands to the others."""
    ordered = plan(index).ordered
    names = ["", *(one.name for one in ordered), ""]
    inside = [[other.name for other in ordered if other.folder.startswith(f"{one.folder}/")] for one in ordered]
    return {
        one.name: number((names[place], names[place + 2], inside[place], one.sections, stands(index, one)))
        for place, one in enumerate(ordered)
    }


def _of_paths(index: Index, before: Mapping[str, Digests], touched: Touched | None) -> dict[str, Digests]:
    """What hangs on which files there are, and on what some of them say."""
    paths = [row[1] for row in index.bases]
    texts: Collection[str] = touched[Aspect.TEXT] if touched is not None else paths
    moved = touched is None or bool(touched[Aspect.PATHS])
    found: dict[str, Digests] = {}
    for name, make in _BY_PATHS.items():
        found[name] = make(index) if moved else before[name]
    files = index.files
    found["weight"] = _renewed(before.get("weight", {}), paths, texts, moved, lambda path: band(files[path].size))
    guides = moved or any(GUIDES.search(path) for path in texts)
    found["entry"] = {path: number(row) for path, row in entries(index).items()} if guides else before["entry"]
    trials = [row[1] for row in index.bases if row[3] == Category.TEST or row[1] in index.tests_in]
    anew = moved or any(is_setting(path) for path in texts)

    def command(path: str) -> int:
        return number(index.runners.command(path, index.language_of(path), ""))

    found["command"] = _renewed(before.get("command", {}), trials, trials if anew else texts, anew, command)
    return found


def _renewed(
    before: Digests, keys: Iterable[str], changed: Collection[str], anew: bool, number: Callable[[str], int]
) -> Digests:
    """A table of which some keys are looked at again."""
    again = set(changed)
    return {key: number(key) if anew or key in again or key not in before else before[key] for key in keys}


def _folder_lists(index: Index) -> Digests:
    return {folder: number(index.beside(folder)) for folder in index.folders}


def _stems(index: Index) -> Digests:
    found: dict[str, list[str]] = {}
    for path in sorted(row[1] for row in index.bases):
        found.setdefault(stem_of(path), []).append(path)
    return {stem: number(paths) for stem, paths in found.items()}


def _notes(index: Index) -> Digests:
    found: dict[str, list[Note]] = {}
    for note in index.book.notes:
        found.setdefault(note.path, []).append(note)
    return {path: number((index.book.settings, notes)) for path, notes in found.items()}


def _licences(index: Index) -> Digests:
    return {folder: number(path) for folder, path in index.licences.items()}


_BY_PATHS: dict[str, Callable[[Index], Digests]] = {"folder": _folder_lists, "stem": _stems, "licences": _licences}


def changed(
    index: Index, before: Mapping[str, Digests], now: Mapping[str, Digests], touched: Touched, besides: bool
) -> set[int]:
    """The slots of all that changed; where anything did (`besides`: what no slot is of), that of whoever reads of
    everything."""
    stirred: set[str] = {*touched[Aspect.TEXT], *touched[Aspect.NAMES], *touched[Aspect.PATHS]}
    named = {key for aspect in (Aspect.WORDS, Aspect.NAMES, Aspect.PATHS, Aspect.USES) for key in touched[aspect]}
    slots = {slot(aspect, key) for aspect, keys in touched.items() for key in keys}
    words = _words(index, before, now, touched)
    slots.update(slot("words", path) for path in words)
    stirred.update(words)
    named.update(words)
    for name, table in now.items():
        old = before.get(name, {})
        if table is old or table == old:
            continue
        keys = [key for key in table if table[key] != old.get(key)] + [key for key in old if key not in table]
        slots.update(slot(name, key) for key in keys)
        if keys:
            slots.add(slot(name, EVERY))
        if name in _STIRRING:
            stirred.update(keys)
        if name in ("used", "linked"):
            named.update(keys)
    slots.update(slot(BELOW, folder) for folder in {folder for path in stirred for folder in above(path)})
    slots.update(slot(NAMES_BELOW, folder) for folder in {folder for path in named for folder in above(path)})
    slots.update(slot(aspect, EVERY) for aspect, keys in touched.items() if keys)
    if slots or besides:
        slots.add(slot(ANY, ""))
    return slots


def _words(index: Index, before: Mapping[str, Digests], now: Mapping[str, Digests], touched: Touched) -> list[str]:
    """The files of which other words are telling now: a word that many more files have tells nothing."""
    common = set(touched[Aspect.TERM])
    everywhere = now["read"] != before.get("read")
    if not common and not everywhere:
        return []
    rows = index.census.terms.items()
    return [
        index.path_of_base(base) for base, terms in rows if everywhere or any(term.text in common for term in terms)
    ]
