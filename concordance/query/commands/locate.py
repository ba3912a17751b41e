"""`concord locate`: find what a bug report, a stack trace or the output of a test is about."""

from __future__ import annotations

from concordance.base.errors import UserError
from concordance.query.answers import Answer, AnswerPage, Option, full_name, paginate
from concordance.query.index.repository import Index
from concordance.query.search.absence import files_searched
from concordance.query.search.bug_report import parse_report
from concordance.query.search.suspects import find_suspects, is_by_words_alone

HELP = """List the files and functions that most likely need the change, from a bug report, a trace or a test's output.

Reads FILE, or standard input. Each row has its reasons: frames of traces (Python, C++, Java, Go, Rust, JavaScript),
paths and names that are mentioned, error messages and the lines that raise them, options, quoted strings, words, and
what is one step away from these.

\b
concord locate report.md
pytest 2>&1 | concord locate
"""
ARGUMENT = "[FILE]"
OPTIONS = (Option("number", "Show at most N files and N functions.", int, 10, short="n", least=1),)

_COLUMNS = ("path", "line", "symbol", "reasons")


def answer(index: Index, argument: str | None, page: AnswerPage) -> Answer:
    """Return one row per file and function; `argument` is the report's text."""
    text = (argument or "").encode("utf-8", "replace").decode()
    if not text.strip():
        raise UserError("there is no report to read", "Give a FILE, or pipe a report into `concord locate`")
    report = parse_report(text)
    suspects = find_suspects(index, report, page.options["number"])
    rows = [
        {
            "path": suspect.path,
            "line": suspect.line,
            "symbol": full_name(suspect.symbol) if suspect.symbol is not None else "",
            "kind": suspect.symbol.kind if suspect.symbol is not None else "file",
            "score": round(suspect.score, 3),
            "reasons": suspect.reasons,
        }
        for suspect in suspects
    ]
    notes = [] if rows else [f"no match for anything in the report: {files_searched(index)}"]
    if rows and is_by_words_alone(suspects):
        notes.append("ranked by words alone: the report has no trace, path, name, message or option that was found")
    if report.unread:
        notes.append(
            f"{report.unread:,} of {len(text):,} characters were left out; "
            "read were the beginning, the end, and the last lines of traces and errors between them"
        )
    return paginate(rows, _COLUMNS, page)._replace(note="; ".join(notes))
