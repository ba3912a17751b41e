"""Files and definitions by words."""

from __future__ import annotations

from concordance.base.errors import UserError
from concordance.base.model import Kind
from concordance.query.answers import Answer, AnswerPage, Option, paged
from concordance.query.index.repository import Index
from concordance.query.names.resolver import nearest
from concordance.query.search.finder import parse_filters, spots

HELP = """Finds what a name or some words mean: definitions of the name first, then the files that say the words best.

Parts of names count (`batch norm` finds BatchNorm), and their initials (`FSDP`); "words in quotes" must stand together,
typing errors are forgiven. A message that somebody was shown finds the lines that raise it. `fn:`, `class:`, `file:` or
`kw:` before it asks for functions, types, files or keywords only, `in:folder` for what lies below a folder. Source
comes before tests unless the question or --in asks for tests.

\b
concord search DataLoader
concord search "wrong gradient of the pooling layer with ceil mode" -n 10
concord search parse --kind function --in torch/jit
concord search class:loader in:torch/utils
"""
ARGUMENT = "QUERY..."
OPTIONS = (
    Option("number", "At most so many.", int, 20, short="n", least=1),
    Option("kind", "Only definitions of a kind.", default="", choices=("", "file", *(kind.value for kind in Kind))),
    Option("in", "Only below a folder.", default=""),
)

_COLUMNS = ("path", "line", "called", "kind", "score", "snippet")


def answer(index: Index, asked: str, page: AnswerPage) -> Answer:
    """One row a place."""
    question = " ".join(asked.encode("utf-8", "replace").decode().split())
    if not question.strip("\"'` "):
        raise UserError("there is nothing to search for", "Say a name or some words: concord search DataLoader")
    asked_for = parse_filters(question, page.options["kind"], str(page.options["in"]), page.options["number"])
    if not asked_for.question.strip("\"'` "):
        advice = "Say a name or some words behind it: concord search fn:forward"
        raise UserError("there is nothing to search for", advice)
    folder = asked_for.folder.removeprefix("./").strip("/")
    folder = "" if folder == "." else folder
    if folder and not any(path.startswith(f"{folder}/") for path in index.categories):
        raise UserError(f"the repository has no folder {folder}", "Name it from the repository's root")
    found = spots(index, asked_for._replace(folder=folder))
    rows = [{**spot._asdict(), "score": round(spot.score, 2)} for spot in found]
    return paged(rows, _COLUMNS, page)._replace(note="" if rows else _nothing(index, question))


def _nothing(index: Index, question: str) -> str:
    """What to say where there is no answer."""
    said = f"nothing says {question}: {len(index.categories):,} files searched"
    near = dict.fromkeys(name for word in question.split()[:5] for name in nearest(index, word.strip('"')))
    return f"{said}; nearest names: {', '.join(list(near)[:3])}" if near else said
