"""The six tools that `concord mcp` offers to coding agents; nothing here knows the protocol.

In: a tool's name and its arguments, which are untrusted. Out: a `ToolAnswer`: rows as structured content, and the same
as text, each within the budget of tokens that the caller sets. Whole rows are dropped from the end, where the least
important ones are, and the answer says how many and how to get them. An answer without rows says what was searched.

Every answer names the commit that was indexed and whether the files that it cites are still as they were indexed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from concordance.base.blocks import count_noun
from concordance.base.errors import UserError
from concordance.base.model import File, Skip, Trust
from concordance.collect.blame import quick_head_commit
from concordance.query.answers import Answer, Row, full_name
from concordance.query.commands import ask
from concordance.query.commands.path import graph_of_targets
from concordance.query.index.repository import Index
from concordance.query.names.resolver import resolve_subject
from concordance.query.search.absence import files_searched, unseen
from concordance.serve.current_index import CurrentIndex

Review = Callable[[Index], list[Row]]  # what the uncommitted changes may break
ShowPages = Callable[[Index, str], list[Row]]  # the pages of a file, folder or name as Markdown: path, page, text

DEFAULT_TOKENS = 2000
_MIN_TOKENS, _MAX_TOKENS = 200, 50_000
_ROWS = 200  # rows that are requested of a command; a budget seldom holds more
_COMMON = "main"  # a name that many repositories have
_RESULTS = 30  # of a search; finding the best line of each takes most of the time
_RESERVE = 120  # tokens for what an answer says about itself
_LONG = 25  # words from which on a query is a report rather than a question
_EXCERPT = 40  # lines that are shown from a line on
MAX_NOTE = 150  # tokens of a note or an error, which may quote what was asked
_SHORTEST = 8  # characters up to which a text is left out rather than cut
_SLICE = 400  # lines of source at most
_MAX_LINKS = 20  # definitions of names in a slice that are listed
_REFERENCES = {
    "definitions": "define", "uses": "refs", "callers": "callers", "callees": "callees", "tests": "tests",
    "imports": "imports", "importers": "importers",
}  # fmt: skip
_TARGET = {"type": "string", "description": "path, name, path#Outer.inner or path:line:col"}
_BUDGET = {"type": "integer", "default": DEFAULT_TOKENS, "description": "size of the answer at most"}
_CURSOR = {"type": "string", "description": "from a previous answer"}


class Tool(NamedTuple):
    """A tool as agents see it."""

    name: str
    description: str
    properties: dict[str, dict[str, Any]]
    required: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        more = {"max_tokens": _BUDGET} | ({"cursor": _CURSOR} if self.name != "read" else {})
        return {
            "type": "object", "properties": self.properties | more, "required": list(self.required),
            "additionalProperties": False,
        }  # fmt: skip


TOOLS = (
    Tool(
        "find",
        "Search files and definitions by name or words, best first. Of a bug report, stack trace or test output: list "
        "the files and functions that most likely need the change, with reasons.",
        {
            "query": {"type": "string"},
            "in": {"type": "string", "description": "folder to search"},
            "kind": {"type": "string", "description": "file, class, function, …"},
        },
        ("query",),
    ),
    Tool(
        "read",
        "Read source: a definition by name, or lines of a file; then where the names used there are defined.",
        {"target": _TARGET, "start": {"type": "integer"}, "end": {"type": "integer"}},
        ("target",),
    ),
    Tool(
        "explain",
        "Describe a file, a folder (`.` is the repository) or a definition: purpose, structure, users, tests.",
        {"target": _TARGET},
        ("target",),
    ),
    Tool(
        "references",
        "List references of one kind, each with how certain it is.",
        {
            "target": _TARGET,
            "kind": {"type": "string", "enum": [*_REFERENCES, "overrides"]},
            "guesses": {"type": "boolean", "description": "include links that are only candidates"},
        },
        ("target", "kind"),
    ),
    Tool(
        "path",
        "Find the shortest chain of calls and imports, also between languages, from one name or file to another.",
        {"from": _TARGET, "to": _TARGET},
        ("from", "to"),
    ),
    Tool(
        "impact",
        "List what a change may break: tests to run first, with commands, then users. Without a target: review the "
        "uncommitted changes, with documents, owners and pages that no longer hold.",
        {"target": _TARGET},
        (),
    ),
)


class ToolAnswer(NamedTuple):
    """The answer to a tool call."""

    structured: dict[str, Any]
    text: str
    stale: tuple[str, ...] = ()  # files that the answer cites and that have changed since they were indexed


class AgentTools:
    """Answers tool calls about one repository."""

    def __init__(self, index: CurrentIndex, show: ShowPages, review: Review) -> None:
        self._current_index, self._show, self._review = index, show, review

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Answer a call; raise a UserError that says what to do if an argument is wrong."""
        tool = next((tool for tool in TOOLS if tool.name == name), None)
        if tool is None:
            raise UserError(f"there is no tool {name}", f"Use one of: {', '.join(tool.name for tool in TOOLS)}")
        given = _checked(tool, arguments)
        answer = _Call(self._index(), self._show, self._review, given).answer(name)
        if answer.stale and self._current_index.wait_for_update():
            answer = _Call(self._index(), self._show, self._review, given).answer(name)
        return answer

    def prepare(self) -> Iterator[object]:
        """Read, step by step, the tables that many answers need, so that no call has to wait for all of them."""
        index = self._index()
        yield self._show(index, ".")  # what agents are told to ask first, and what takes longest
        yield graph_of_targets(index)
        yield ask(index, "search", _COMMON, 1)

    def _index(self) -> Index:
        """Return the newest index; files are read again, for they may have changed since the last call."""
        index = self._current_index()
        index.open_files.clear()
        return index

    def page(self, target: str) -> str:
        """Return the pages of a file, folder or name as Markdown."""
        return "\n\n".join(str(row["text"]) for row in self._show(self._index(), target or "."))


def _checked(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call if they fit the tool's schema."""
    properties = tool.schema["properties"]
    kinds: dict[str, type] = {"string": str, "integer": int, "boolean": bool}
    for name, value in arguments.items():
        if name not in properties:
            raise UserError(f"{tool.name} has no argument {name}", f"Its arguments: {', '.join(properties)}")
        wanted = properties[name]["type"]
        if not isinstance(value, kinds[wanted]) or (wanted == "integer" and isinstance(value, bool)):
            raise UserError(f"{name} must be of type {wanted}", f"It is {json.dumps(value)[:60]}")
        if "enum" in properties[name] and value not in properties[name]["enum"]:
            raise UserError(f"{name} cannot be {value}", f"Use one of: {', '.join(properties[name]['enum'])}")
    for name in tool.required:
        if not str(arguments.get(name, "")).strip():
            wanted = properties[name].get("description", f"a {properties[name]['type']}")
            raise UserError(f"{tool.name} needs the argument `{name}`", f"Give it: {wanted}")
    budget = arguments.get("max_tokens", DEFAULT_TOKENS)
    if not _MIN_TOKENS <= budget <= _MAX_TOKENS:
        raise UserError(f"max_tokens cannot be {budget}", f"Use a number from {_MIN_TOKENS} to {_MAX_TOKENS:,}")
    return dict(arguments)


class _Call:
    """One call of a tool."""

    def __init__(self, index: Index, show: ShowPages, review: Review, arguments: dict[str, Any]) -> None:
        self.index, self.show, self.review, self.given = index, show, review, arguments
        cursor = str(arguments.get("cursor") or "0")
        if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 7):
            raise UserError(f"cursor cannot be {cursor}", "Use the cursor of a previous answer")
        self.skipped = int(cursor)
        self.budget = int(arguments.get("max_tokens", DEFAULT_TOKENS)) - _RESERVE

    def answer(self, name: str) -> ToolAnswer:
        methods: dict[str, Callable[[], ToolAnswer]] = {
            "find": self._find, "read": self._read, "explain": self._explain, "references": self._references,
            "path": self._path, "impact": self._impact,
        }  # fmt: skip
        return methods[name]()

    def _ask(self, command: str, argument: str | None, **options: object) -> Answer:
        """Return the rows of a question from the cursor on, which counts rows: a command's own may not."""
        answer = ask(self.index, command, argument, self.skipped + _ROWS, "", **options)
        return answer._replace(rows=answer.rows[self.skipped :])

    # --- the tools

    def _find(self) -> ToolAnswer:
        query = str(self.given["query"])
        if "\n" in query.strip() or len(query.split()) >= _LONG:
            return self._of_rows(self._ask("locate", query), "evidence in the report")
        options = {name: self.given[name] for name in ("in", "kind") if name in self.given}
        return self._of_rows(self._ask("search", query, number=_RESULTS, **options), "names and full-text ranking")

    def _references(self) -> ToolAnswer:
        kind, target = str(self.given["kind"]), str(self.given["target"])
        if kind == "overrides":
            return self._overrides(target)
        options: dict[str, object] = {}
        if self.given.get("guesses") and kind in ("uses", "callers", "callees"):
            options["trust"] = Trust.CANDIDATE.name.lower()
        return self._of_rows(self._ask(_REFERENCES[kind], target, **options), kind)

    def _overrides(self, target: str) -> ToolAnswer:
        subject = resolve_subject(self.index, target)
        if isinstance(subject, File):
            raise UserError(f"{target} is a file", "Overrides are asked about a method or class, such as Cart.total")
        rows: list[Row] = []
        for place in subject:
            near = [(one, "overrides it", trust) for one, trust in self.index.facts.overriding(place.id)]
            near += [(one, "is overridden by it", trust) for one, trust in self.index.facts.overridden(place.id)]
            family = self.index.facts.subclasses_of(place.id), self.index.facts.bases_of(place.id)
            for ids, how in zip(family, ("inherits from it", "is a base of it"), strict=True):
                near += [(one, how, int(Trust.UNIQUE_NAME)) for one in ids]
            known = self.index.facts.places(one for one, _, _ in near)
            for identity, how, trust in sorted(near, key=lambda one: self.index.order_of(one[0])):
                other = known[identity]
                row = {"path": other.path, "line": other.line, "qualified": full_name(other), "how": how}
                rows.append({**row, "trust": Trust(trust).name.lower(), "by": "inheritance"})
        missed = unseen(subject[0].language)
        note = "" if rows else f"no overrides of {target} found: {files_searched(self.index)}{missed}"
        return self._of_rows(Answer(rows, ("path", "line", "qualified", "how"), len(rows), "", note), "inheritance")

    def _path(self) -> ToolAnswer:
        return self._of_rows(self._ask("path", f"{self.given['from']} {self.given['to']}"), "links")

    def _impact(self) -> ToolAnswer:
        target, by = self.given.get("target"), "links of trust unique_name or better"
        if target:
            return self._of_rows(self._ask("impact", str(target)), by)
        rows = self.review(self.index)
        columns = ("path", "line", "kind", "change", "qualified", "why")
        note = "" if rows else "nothing changed since the last commit"
        return self._of_rows(Answer(rows[self.skipped :], columns, len(rows), "", note), by)

    def _read(self) -> ToolAnswer:
        target = str(self.given["target"])
        path, start, end = self._slice(target)
        file = self.index.open_file(path)
        lines = file.lines() if file.file.skip == Skip.NONE else None
        if lines is None:
            note = f"{path} has changed since it was indexed, or is not text: read the file itself"
            return self._of_rows(Answer([], (), 0, "", note), "", (path,))
        start, end = int(self.given.get("start", start)), int(self.given.get("end", end))
        if start > end and "end" not in self.given and ":" not in target:
            end = start + _EXCERPT  # from a line after the definition on
        if not 1 <= start <= max(1, len(lines)) or end < start:
            raise UserError(f"{path} has no lines {start} to {end}", f"Its lines are 1 to {len(lines):,}")
        end = min(end, len(lines), start + _SLICE - 1)
        links = self._links(path, start, end)
        while links and 3 * count_tokens(json.dumps(links)) > self.budget:  # the source matters more
            links.pop()
        head = {"path": path, "start": start, "lines": len(lines)}
        shown: list[str] = []
        left = self.budget - count_tokens(json.dumps([head, links]))
        for number in range(start, end + 1):
            line = lines[number - 1]
            left -= max(count_tokens(f"{number}  {line}\n"), count_tokens(json.dumps(line, ensure_ascii=False)))
            if left < 0 and shown:
                break
            shown.append(line if left >= 0 else f"{line[: max(0, self.budget)]}…")  # a line of minified code, say
        last = start + len(shown) - 1
        remaining = f"{count_noun(end - last, 'more line')}: read with start={last + 1}" if last < end else ""
        text = "\n".join(f"{number}  {line}" for number, line in enumerate(shown, start))
        named = "\n".join(f"{link['name']} → {link['path']}:{link['line']} ({link['trust']})" for link in links)
        structured = {**head, "end": last, "source": "\n".join(shown), "links": links, "by": "the file"}
        body = f"{path}:{start}-{last} of {len(lines)}\n{text}\n{named}".rstrip()
        return self._finished(structured, body, remaining, (path,))

    def _slice(self, target: str) -> tuple[str, int, int]:
        """Return the file and the lines that a target of `read` means."""
        match = re.fullmatch(r"(.+?):(\d+)(?:-(\d+))?", target)
        if match is not None and self.index.facts.file(match[1]) is not None:
            start = int(match[2])
            return match[1], start, int(match[3] or start + _EXCERPT)
        folder = target.removeprefix("./").rstrip("/")
        if any(path.startswith(f"{folder}/") for path in self.index.categories):
            raise UserError(f"{target} is a folder", "Ask `explain` about it, or `read` one of its files")
        subject = resolve_subject(self.index, target)
        if isinstance(subject, File):
            return subject.path, 1, _SLICE
        symbol = self.index.open_file(subject[0].path).defined[subject[0].place]
        return subject[0].path, symbol.start_line, symbol.end_line

    def _links(self, path: str, start: int, end: int) -> list[Row]:
        """Return the definitions of the names on some lines, each name once, in the order of the text."""
        file = self.index.open_file(path)
        best: dict[str, tuple[int, Trust]] = {}
        for place in file.places_on(start, end):
            claims = file.linked_targets(file.expression(place))
            if claims and claims[0].trust >= Trust.UNIQUE_NAME:
                best.setdefault(file.row(place).name, (claims[0].target, claims[0].trust))
        known = self.index.facts.places(target for target, _ in best.values())
        rows: list[Row] = [
            {"name": name, "path": known[target].path, "line": known[target].line, "trust": trust.name.lower()}
            for name, (target, trust) in best.items()
            if target in known and not (known[target].path == path and start <= known[target].line <= end)
        ]
        return rows[:_MAX_LINKS]

    def _explain(self) -> ToolAnswer:
        pages = self.show(self.index, str(self.given["target"]))
        whole = "\n\n".join(_FOOTER.sub("", str(page["text"])) for page in pages)
        text = _ANCHOR.sub("", _LINK.sub(r"\1", whole))
        parts = re.split(r"\n(?=#{1,4} )", text)
        parts.sort(key=lambda part: _ASIDE.match(part) is not None)
        lines = "\n".join(parts).split("\n")
        if self.skipped >= len(lines):
            advice = f"The page has {count_noun(len(lines), 'line')}: use the cursor of a previous answer"
            raise UserError(f"cursor cannot be {self.skipped}", advice)
        parts = re.split(r"\n(?=#{1,4} )", "\n".join(lines[self.skipped :]))
        shown: list[str] = []
        left = self.budget
        for part in parts:
            size = max(count_tokens(part), count_tokens(json.dumps(part, ensure_ascii=False)))
            if size > left:
                break
            left -= size
            shown.append(part)
        dropped = parts[len(shown) :]
        if dropped:  # as much of the next section as fits, if that is more than its heading
            beginning = cut_to_tokens(dropped[0], left)
            if not shown:  # a line too long for the budget is cut, so that the next call goes on after it
                shown.append(beginning or cut_middle(dropped[0].partition("\n")[0], left))
            elif beginning.strip().count("\n") > 1:
                shown.append(beginning)
        heads = ", ".join(part.partition("\n")[0].strip("# ") for part in dropped[:5])
        body = "\n".join(shown)
        after = self.skipped + body.count("\n") + 1
        more = f'call again with cursor="{after}", or raise max_tokens'
        note = f"{count_noun(len(dropped), 'more section')} ({heads}): {more}" if dropped else ""
        structured = {"page": body, "by": "links of trust unique_name or better"}
        return self._finished(structured, body, note, tuple(dict.fromkeys(str(page["path"]) for page in pages)))

    # --- what all answers have

    def _of_rows(self, answer: Answer, by: str, cited: tuple[str, ...] = ()) -> ToolAnswer:
        """Return the rows that fit into the budget."""
        rows: list[Row] = []
        texts: list[str] = []
        if self.skipped and not answer.rows and self.skipped >= answer.total:
            advice = f"The answer has {count_noun(answer.total, 'row')}: use the cursor of a previous answer"
            raise UserError(f"cursor cannot be {self.skipped}", advice)
        remark = cut_middle(answer.note, MAX_NOTE)
        left = self.budget - _text_tokens(remark)
        for whole in answer.rows:
            row = whole if rows else _shortened(answer.columns, whole, left)
            left -= _row_tokens(answer.columns, row)
            if left < 0 and rows:
                break
            rows.append(row)
            texts.append(_line(answer.columns, row))
        shown = self.skipped + len(rows)
        dropped = answer.total - shown
        note = f'{dropped:,} more: call again with cursor="{shown}", or raise max_tokens' if dropped > 0 else ""
        trusts = [Trust[str(row["trust"]).upper()] for row in rows if row.get("trust")]
        structured: dict[str, Any] = {"rows": rows, "total": answer.total, "by": by}
        if trusts:
            structured["trust"] = min(trusts).name.lower()
        if remark:
            structured["note"] = remark
        text = "\n".join((*texts, *([remark] if remark else []))) or "none"
        paths = (str(row["path"]) for row in rows if row.get("path"))
        return self._finished(structured, text, note, (*cited, *dict.fromkeys(paths)))

    def _finished(self, structured: dict[str, Any], text: str, note: str, cited: Iterable[str]) -> ToolAnswer:
        """Add what every answer says about itself."""
        stale = tuple(path for path in dict.fromkeys(cited) if self._is_stale(path))
        commit = quick_head_commit(self.index.root)[:12]
        structured |= {"commit": commit, "current": not stale} | ({"more": note} if note else {})
        state = f"changed since the last update: {', '.join(stale[:2])}" if stale else "current"
        tail = f"[commit {commit or 'none'}, {state}]"
        return ToolAnswer(structured, "\n".join(part for part in (text, note, tail) if part), stale)

    def _is_stale(self, path: str) -> bool:
        """True if a file is no longer as it was when it was indexed."""
        known = self.index.facts.file(path)
        return known is not None and not known.skip and self.index.open_file(path).text() is None


_LINK = re.compile(r"\[([^\]\n]*)\](?:\((?!https?:)[^)\s]*\)|\[\d+\])")  # to pages, of which the agent has none
_FOOTER = re.compile(r"\n---\n+\*Generated by [^\n*]*\*")
_ANCHOR = re.compile(r'<a id="[^"]*"></a>|^\[\d+\]: .*\n?', re.M)
_ASIDE = re.compile(r"## (?:File Metadata|Original Source|Cross-References)\b")  # what an agent needs least


def _line(columns: tuple[str, ...], row: Row) -> str:
    """Return a row as one line of text: its place, then the other columns."""
    place = f"{row['path']}:{row['line']}" if row.get("path") and row.get("line") else str(row.get("path") or "")
    rest = [
        count_noun(int(str(row[name])), "step") if name == "distance" and row.get(name) else _plain(row.get(name))
        for name in columns
        if name not in ("path", "line")
    ]
    trust = f"({row['trust']})" if row.get("trust") and "trust" not in columns else ""
    return "  ".join(part for part in (place, *rest, trust) if part)


def _row_tokens(columns: tuple[str, ...], row: Row) -> int:
    """Return the tokens of a row: as text or as structured content, whichever is more."""
    return 1 + max(count_tokens(_line(columns, row)), count_tokens(json.dumps(row, ensure_ascii=False)))


def _shortened(columns: tuple[str, ...], row: Row, budget: int) -> Row:
    """Return a row that fits into the budget: its longest texts and lists are cut. Only the first row of an answer is,
    since it is always shown."""
    shortened = dict(row)

    def length(column: str) -> int:
        value = shortened[column]
        return len(value) if isinstance(value, str | list | tuple) else 0

    while _row_tokens(columns, shortened) > budget:
        name = max(shortened, key=length)
        value = shortened[name]
        if name == "path" or not isinstance(value, str | list | tuple) or len(value) < 2:
            break
        half = value[: len(value) // 2]
        shortened[name] = f"{half.rstrip('…')}…" if isinstance(half, str) else half
        if isinstance(half, str) and len(value) <= _SHORTEST:
            shortened[name] = ""
    return shortened


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, dict):  # a place
        return ":".join(str(part) for part in value.values())
    return "" if value is None else " ".join(str(value).split())


# --- tokens


_PIECES = re.compile(r"[A-Za-z]+|\d+|\n+|[^\S\n]+|[^\x00-\x7f]|.")


def count_tokens(text: str) -> int:
    """Return a high estimate of the tokens of a text, without the tables of a tokenizer.

    Byte-pair encoders merge about four letters or three digits; everything else counts as a token of its own. For the
    tools' own descriptions it is 1,459, where o200k_base needs 903; it is not a strict bound.
    """
    count = 0
    for piece in _PIECES.findall(text):
        first = piece[0]
        if not first.isascii():
            count += len(piece.encode("utf-8", "replace"))
        elif first.isalpha():
            count += 1 + (len(piece) - 1) // 4
        elif first.isdigit():
            count += 1 + len(piece) // 3
        elif not first.isspace() or first == "\n" or len(piece) > 1:
            count += 1
    return count


def _text_tokens(text: str) -> int:
    """Return the tokens of a text: by itself or as structured content, whichever is more."""
    return max(count_tokens(text), count_tokens(json.dumps(text, ensure_ascii=False)))


def cut_middle(text: str, budget: int) -> str:
    """Return a text that fits into a budget: of one that is too long, the beginning and the end."""
    shown, length = text, len(text)
    while _text_tokens(shown) > budget and length > 1:
        length = min(length * 3 // 4, 8 * budget)
        shown = f"{text[: length // 2]}…{text[len(text) - length // 2 :]}"
    return shown


def cut_to_tokens(text: str, budget: int) -> str:
    """Return as many whole lines of a text as fit into a budget."""
    lines, left = [], budget
    for line in text.split("\n"):
        left -= _text_tokens(line + "\n")
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)
