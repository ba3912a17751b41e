"""`concord search`: find definitions and files by names or words."""

from __future__ import annotations

from concordance.base.blocks import count_noun
from concordance.base.errors import UserError
from concordance.base.model import Kind
from concordance.query.answers import Answer, AnswerPage, Option, paginate
from concordance.query.index.repository import Index
from concordance.query.names.resolver import similar_names
from concordance.query.search.absence import files_searched
from concordance.query.search.finder import find_results
from concordance.query.search.request import FILE, FOLDER, parse_filters

HELP = """Find definitions and files by a name or words: definitions of that name first, then the best matching files.

Parts of names match (`batch norm` finds BatchNorm), together with words of the enclosing scope and the path, and so do
initials (`FSDP`). "Words in quotes" must be adjacent. Typos are corrected. An error message finds the lines that raise
it. The prefixes `fn:`, `class:`, `file:` and `kw:` restrict the search to functions, types, files and folders, or
keywords, `in:folder` to what is below a folder. Source comes before tests unless the query or --in asks for tests.

\b
concord search DataLoader
concord search "wrong gradient of the pooling layer with ceil mode" -n 10
concord search parse --kind function --in torch/jit
concord search class:loader in:torch/utils
"""
ARGUMENT = "QUERY..."
_KINDS = (FILE, FOLDER, *(kind.value for kind in Kind))
OPTIONS = (
    Option("number", "Show at most N results.", int, 20, short="n", least=1),
    Option("kind", f"Show only this kind: {', '.join(_KINDS)}.", choices=_KINDS, metavar="KIND"),
    Option("in", "Search only below this folder.", default="", metavar="FOLDER"),
)

_COLUMNS = ("path", "line", "called", "kind", "snippet")


def answer(index: Index, argument: str, page: AnswerPage) -> Answer:
    """Return one row per match."""
    question = " ".join(argument.encode("utf-8", "replace").decode().split())
    if not question.strip("\"'` "):
        raise UserError("there is nothing to search for", "Give a name or some words: concord search DataLoader")
    asked_for = parse_filters(question, page.options["kind"] or "", str(page.options["in"]), page.options["number"])
    if not asked_for.question.strip("\"'` "):
        advice = "Give a name or some words after the filter: concord search fn:forward"
        raise UserError("there is nothing to search for", advice)
    folder = asked_for.folder.removeprefix("./").strip("/")
    folder = "" if folder == "." else folder
    if folder and not any(path.startswith(f"{folder}/") for path in index.categories):
        raise UserError(f"the repository has no folder {folder}", "Give its path from the repository's root")
    results = find_results(index, asked_for._replace(folder=folder))
    rows = [{**spot._asdict(), "score": round(spot.score, 3)} for spot in results.results]
    note = f"Showing results for {results.corrected}" if results.corrected else ""
    note = note if rows else _no_match_note(index, question, folder, asked_for.kinds)
    return paginate(rows, _COLUMNS, page)._replace(note=note, corrects=bool(rows and note))


def _no_match_note(index: Index, question: str, folder: str, kinds: frozenset[str]) -> str:
    """Return a note on what was searched, with the nearest names."""
    kind = f" of kind {next(iter(kinds))}" if len(kinds) == 1 else ""
    note = f"no matches{kind} for {question}: {files_searched(index, folder)}"
    words = [word.strip('"') for word in question.split()[:5]]
    elsewhere = list(dict.fromkeys(place.path for word in words for place in index.facts.symbols_named(word)))
    if elsewhere:  # but not of this kind, or not in this folder
        more = f" and {count_noun(len(elsewhere) - 3, 'other file')}" if len(elsewhere) > 3 else ""
        return f"{note}; without the filter: {', '.join(elsewhere[:3])}{more}"
    near = dict.fromkeys(name for word in words for name in similar_names(index, word))
    return f"{note}; nearest names: {', '.join(list(near)[:3])}" if near else note
