"""The questions that are answered from all repositories of a workspace.

In: an open workspace, a question, and its options. Out: an `Answer` whose rows have a `repository` besides the fields
that the same question has in one repository; paths are relative to that repository. A question about a repository is
answered by its own store first, by the command that `query/commands` has for it; what comes from other repositories
follows. A question names a definition (`flask.Flask`), one of a repository (`flask:Flask`), or a position in one
(`flask:src/flask/app.py:9:21`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.blocks import count_noun
from concordance.base.errors import ConcordanceError, UserError
from concordance.base.model import File, Trust
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Answer, AnswerPage, Row, full_name, name_of, page_for, paginate, requested_trust
from concordance.query.commands import COMMANDS
from concordance.query.commands.impact import affected_symbols, find_affected, shown_name
from concordance.query.index.open_file import LinkedTarget
from concordance.query.index.repository import Index, UnknownPath
from concordance.query.names.at_position import POSITION
from concordance.query.names.call_graph import CallEnd, call_row
from concordance.query.names.display_names import display_name
from concordance.query.names.resolver import UnknownName, resolve_subject
from concordance.query.workspace.linking import (
    RemoteTarget,
    RemoteUse,
    WorkspaceLinks,
    matching_expressions,
    users_in,
)
from concordance.query.workspace.module_heads import FAMILIES
from concordance.query.workspace.paths import find_path
from concordance.query.workspace.repositories import OpenWorkspace

_QUALIFIED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*):(?![:\d])(.+)", re.DOTALL)
_MOST_DEFINING = 20  # repositories that are asked about one name


Places = list[tuple[str, list[SymbolPlace]]]  # repositories, each with symbols or files of it
RowsOfUse = Callable[[RemoteUse], list[Row]]


class Subject(NamedTuple):
    """What a question is about in one repository."""

    repository: str
    argument: str


class WorkspaceQuestions:
    """Answers questions about one workspace."""

    def __init__(self, workspace: OpenWorkspace) -> None:
        self.workspace, self.links = workspace, WorkspaceLinks(workspace)

    def ask(self, command: str, argument: str | None, limit: int = 1000, cursor: str = "", **options: object) -> Answer:
        """Answer a question."""
        answers: dict[str, Callable[[str, AnswerPage], Answer]] = {
            "define": self._define, "refs": self._refs, "callers": self._callers, "impact": self._impact,
            "path": self._path, "search": self._search,
        }  # fmt: skip
        if command not in answers:
            raise UserError(f"`{command}` is about one repository", f"Over a workspace: {', '.join(answers)}")
        if argument is None or not argument.strip():
            advice = "Give it a NAME, or REPOSITORY:PATH:LINE:COL" if command != "search" else "Give it a name or words"
            raise UserError(f"`{command}` needs an argument", advice)
        page = page_for(plugins.load(COMMANDS, command), limit, cursor, options)
        answer = answers[command](argument, page)
        missing = "; ".join(f"{name} could not be asked: {why}" for name, why in self.workspace.unavailable.items())
        return answer._replace(note="; ".join(filter(None, (answer.note, missing))))

    # --- which repositories a question is about

    def _subjects(self, argument: str) -> list[Subject]:
        """Return the repositories that a question is about, those that export the name first."""
        given = _QUALIFIED.fullmatch(argument)
        if given is not None and given[1] in self.workspace.repositories:
            return [Subject(given[1], given[2])]
        if POSITION.fullmatch(argument) or "/" in argument:
            advice = f"Write REPOSITORY:{argument}"
            raise UserError(f"{argument} may be in any repository of the workspace", advice)
        parts = [part for part in re.split(r"::|\.", argument.removesuffix("()")) if part]
        for end in range(len(parts), 0, -1):
            rows = self.workspace.catalogue.named(parts[end - 1])
            names = parts[:end]
            exact = [row for row in rows if re.split(r"::|\.", row[1].qualified)[-len(names) :] == names]
            full = [row for row in exact if re.split(r"::|\.", row[1].qualified) == names]
            repositories = list(dict.fromkeys(repository for repository, _ in full or exact))
            if repositories:
                return [Subject(name, argument) for name in repositories[:_MOST_DEFINING]]
            having = {
                provider for family in FAMILIES for provider in self.workspace.catalogue.providers(family, parts[0])
            }
            if having and end == len(parts):  # a module, or a name that is not the public one
                return [Subject(name, argument) for name in sorted(having)[:_MOST_DEFINING]]
        likely = self.workspace.catalogue.names_like(parts[-1:], 20)
        near = ", ".join([*dict.fromkeys(row.qualified for _, row in likely)][:3])
        advice = f"Nearest: {near}" if near else "Ask one repository: REPOSITORY:NAME"
        raise UnknownName(f"no repository of the workspace exports {argument}", advice)

    def _places(self, argument: str) -> Places:
        """Return the symbols or files that a question is about, by repository; a use leads to its definition."""
        places: Places = []
        problem: ConcordanceError | None = None
        for subject in self._subjects(argument):
            remote = self._remote_targets(subject)
            if remote:
                places += [(target.repository, [target.place]) for target in remote]
                continue
            try:
                places.append((subject.repository, self._local_places(subject)))
            except (UnknownName, UnknownPath) as error:
                problem = error
        if not places and problem is not None:
            raise problem
        return places

    def _local_places(self, subject: Subject) -> list[SymbolPlace]:
        index = self.workspace.index(subject.repository)
        resolved = resolve_subject(index, subject.argument)
        if isinstance(resolved, File):
            place = index.facts.place(index.facts.id(resolved.path))
            return [place] if place is not None else []
        return resolved

    def _remote_targets(self, subject: Subject) -> tuple[RemoteTarget, ...]:
        """Return what a position leads to in other repositories; empty if it stays in its own."""
        match = POSITION.fullmatch(subject.argument)
        if match is None:
            return ()
        index = self.workspace.index(subject.repository)
        file = index.open_file(index.file(match["path"]).path)
        line, col = int(match["line"]), int(match["col"])
        place = file.at(line, col) if 1 <= line < len(file.starts) else None
        if place is None or file.linked_targets(file.expression(place)):
            return self._included(subject.repository, index, match["path"], line) if place is None else ()
        return self.links.at_expression(subject.repository, file, file.expression(place))

    def _included(self, repository: str, index: Index, path: str, line: int) -> tuple[RemoteTarget, ...]:
        """Return the file that a line imports, where the import has no name: `#include <a.h>`."""
        file = index.open_file(index.file(path).path)
        for row, target in file.import_targets:
            if row.line == line and target is not None and not target.paths:
                return self.links.at_import(repository, file, row)
        return ()

    # --- define

    def _define(self, argument: str, page: AnswerPage) -> Answer:
        rows: list[Row] = []
        notes: list[str] = []
        subjects = self._subjects(argument)
        problem: ConcordanceError | None = None
        for subject in subjects:
            remote = self._remote_targets(subject)
            rows += (self._target_row(target) for target in remote)
            if remote:
                continue
            try:
                answer = self._local("define", subject, page)
            except (UnknownName, UnknownPath) as error:
                problem = error
                continue
            rows += answer.rows
            notes += [answer.note] if answer.note else []
        if not rows and problem is not None:
            raise problem
        if len(subjects) > 1 and not _QUALIFIED.fullmatch(argument):
            for row in rows:
                row["trust"] = Trust.CANDIDATE.name.lower()
                row["by"] = f"one of {len(subjects)} repositories that export this name"
        via = ("via",) if any(row["via"] for row in rows) else ()
        columns = ("repository", "path", "line", "col", "called", "kind", "trust", "by", *via)
        return paginate(rows, columns, page)._replace(note="; ".join(notes))

    def _local(self, command: str, subject: Subject, page: AnswerPage) -> Answer:
        """Return the answer of one repository, with its name in every row."""
        index = self.workspace.index(subject.repository)
        module = plugins.load(COMMANDS, command)
        answer: Answer = module.answer(index, subject.argument, page)
        return answer._replace(rows=[{"repository": subject.repository, **row} for row in answer.rows])

    def _target_row(self, target: RemoteTarget) -> Row:
        index, place = self.workspace.index(target.repository), target.place
        by = target.by if target.whole else f"{target.by}; the module was found, the name in it was not"
        return {
            "repository": target.repository, "path": place.path, "line": place.line, "col": place.col,
            "name": name_of(place), "qualified": full_name(place),
            "kind": "module" if place.kind == "file" else place.kind, "trust": target.trust.name.lower(), "by": by,
            "via": [{"repository": repository, "path": path, "line": line} for repository, path, line in target.via],
            "called": display_name(index, place),
        }  # fmt: skip

    # --- refs and callers

    def _refs(self, argument: str, page: AnswerPage) -> Answer:
        columns = ("repository", "path", "line", "col", "role", "scope", "text", "trust", "by")
        return self._own_and_others("refs", argument, page, columns, self._use_rows)

    def _callers(self, argument: str, page: AnswerPage) -> Answer:
        columns = ("repository", "path", "line", "called", "trust", "by")
        return self._own_and_others("callers", argument, page, columns, self._caller_rows)

    def _own_and_others(
        self, command: str, argument: str, page: AnswerPage, columns: tuple[str, ...], rows_of: RowsOfUse
    ) -> Answer:
        """Return what the defining repositories answer, then the rows of others. Cursors among the latter begin with
        "w", as the answer of one repository has cursors of its own."""
        places = self._places(argument)
        least = requested_trust(page)
        if page.cursor.startswith("w"):
            rows = [row for use in self._uses(places, least) for row in rows_of(use)]
            behind = paginate(rows, columns, page._replace(cursor=page.cursor[1:]))
            before = self._own_and_others(command, argument, page._replace(cursor="", limit=1), columns, lambda _: [])
            return behind._replace(cursor=behind.cursor and f"w{behind.cursor}", total=before.total + behind.total)
        own: list[Row] = []
        total = 0
        for repository, symbols in places:
            asked = _identity(symbols)
            if asked:
                answer = self._local(command, Subject(repository, asked), page)
                own, total = own + answer.rows, total + answer.total
                if answer.cursor and len(places) == 1:
                    note = "uses in other repositories follow after these"
                    return Answer(own, columns, answer.total, answer.cursor, note)
        others = [row for use in self._uses(places, least) for row in rows_of(use)]
        room = max(0, page.limit - len(own))
        cursor = f"w{room}" if room < len(others) else ""
        note = "" if own or others else self._none_found(argument)
        return Answer([*own, *others[:room]], columns, total + len(others), cursor, note)

    def _uses(self, places: Places, least: Trust) -> Iterator[RemoteUse]:
        """Yield the uses of some definitions in the files of other repositories."""
        for repository, symbols in places:
            for use in self.links.uses(repository, symbols):
                if use.trust >= least and any(self.workspace.available([use.repository])):
                    yield use

    def _caller_rows(self, use: RemoteUse) -> list[Row]:
        index = self.workspace.index(use.repository)
        callers = [place for place, calls in users_in(index, use) if calls] if use.calls else []
        ends = (CallEnd(place, LinkedTarget(0, use.trust, use.by)) for place in callers)
        return [{"repository": use.repository, **call_row(index, end)} for end in ends]

    def _use_rows(self, use: RemoteUse) -> list[Row]:
        index = self.workspace.index(use.repository)
        file = index.open_file(use.path)
        places = file.occurrences_of(matching_expressions(file, use.names))
        rows: list[Row] = []
        for place in places:
            at = file.position_of(place)
            symbol = index.facts.place(file.ids.id_at(file.around(at.scope))) if file.around(at.scope) >= 0 else None
            rows.append({
                "repository": use.repository, "path": use.path, "line": at.line, "col": at.col, "role": str(at.role),
                "trust": use.trust.name.lower(), "by": use.by,
                "scope": full_name(symbol) if symbol is not None else None, "text": file.line(at.line),
            })  # fmt: skip
        lines = {row["line"] for row in rows}
        for row, target in file.import_targets:
            name = row.name if row.name != "*" else ""
            if (row.module, name) in use.names and row.line not in lines and target is not None:
                rows.append({
                    "repository": use.repository, "path": use.path, "line": row.line, "col": row.col, "role": "import",
                    "trust": use.trust.name.lower(), "by": use.by, "scope": None, "text": file.line(row.line),
                })  # fmt: skip
                lines.add(row.line)
        return sorted(rows, key=lambda row: (row["line"], row["col"]))

    def _none_found(self, argument: str) -> str:
        count = count_noun(len(self.workspace.repositories), "repository", "repositories")
        return f"no uses of {argument} found: {count} searched"

    # --- impact, path, search

    def _impact(self, argument: str, page: AnswerPage) -> Answer:
        rows: list[Row] = []
        places = self._places(argument)
        for repository, symbols in places:
            asked = _identity(symbols)
            rows += self._local("impact", Subject(repository, asked), page).rows if asked else []
        users: dict[str, dict[int, SymbolPlace]] = {}
        for use in self._uses(places, Trust.UNIQUE_NAME):
            inside = users_in(self.workspace.index(use.repository), use)
            users.setdefault(use.repository, {}).update((place.id, place) for place, _ in inside)
        for repository, users_there in users.items():
            rows += self._affected(repository, users_there, ", ".join(one for one, _ in places))
        rows.sort(key=lambda row: (int(str(row["distance"])), not row["run"]))
        columns = ("repository", "path", "line", "called", "distance", "why", "run")
        return paginate(rows, columns, page)._replace(note="" if rows else self._none_found(argument))

    def _affected(self, repository: str, users: dict[int, SymbolPlace], used: str) -> list[Row]:
        """Return the users in another repository, and what a change of them may break there."""
        index = self.workspace.index(repository)
        affected_ids, walk = find_affected(index, list(users))
        reached = affected_symbols(index, affected_ids, walk)
        tests = {affected.place.id: affected.run for affected in reached}
        rows: list[Row] = [
            {
                "repository": repository, "path": affected.place.path, "line": affected.place.line,
                "qualified": full_name(affected.place) if affected.place.name else "", "distance": affected.steps + 1,
                "why": affected.why, "run": affected.run,
                "called": shown_name(index, affected),
            }
            for affected in reached
            if affected.place.id not in users
        ]  # fmt: skip
        for place in users.values():
            name = display_name(index, place) if place.name else ""
            rows.append({
                "repository": repository, "path": place.path, "line": place.line,
                "qualified": full_name(place) if place.name else "", "distance": 1, "why": f"uses {used}",
                "run": tests.get(place.id, ""), "called": name,
            })  # fmt: skip
        return rows

    def _path(self, argument: str, page: AnswerPage) -> Answer:
        words = [word for word in argument.split() if word not in ("to", "->", "→")]
        if len(words) != 2:
            raise UserError("a path needs two names or files", "Use: concord path FROM TO")
        begin, end = (self._places(word) for word in words)
        rows, visited = find_path(self.workspace, self.links, begin, end)
        columns = ("repository", "path", "line", "name", "how", "to", "trust", "by")
        note = "" if rows else f"no chain found from {words[0]} to {words[1]}: {count_noun(visited, 'use')} searched"
        return paginate(rows, columns, page)._replace(note=note)

    def _search(self, argument: str, page: AnswerPage) -> Answer:
        words = re.findall(r"[\w$]+", argument)
        kind, number = page.options["kind"], int(page.options["number"])
        if not words:
            raise UserError("there is nothing to search for", "Give a name or some words: concord search DataLoader")
        exact = self.workspace.catalogue.named(words[-1]) if len(words) == 1 else []
        rows = [*exact, *self.workspace.catalogue.names_like(words, max(200, 4 * number))]
        unique: dict[tuple[object, ...], Row] = {}
        for repository, exported in rows:
            if kind in (None, exported.kind):
                row: Row = {
                    "repository": repository, "path": exported.path, "line": exported.line,
                    "symbol": exported.qualified, "kind": exported.kind, "called": exported.qualified,
                    "score": _score(words, exported.name, exported.qualified), "snippet": "",
                }  # fmt: skip
                unique.setdefault((repository, exported.path, exported.key), row)
        shown = sorted(
            unique.values(), key=lambda row: (-float(str(row["score"])), len(str(row["symbol"])), str(row["symbol"]))
        )
        note = "" if shown else f"no exported name contains {argument}: for words in files, search one repository"
        columns = ("repository", "path", "line", "called", "kind")
        return paginate(shown[:number], columns, page)._replace(note=note)


def _identity(places: list[SymbolPlace]) -> str:
    """Return the id of the best of some symbols, for a command that is about one repository; "" for a file."""
    best = places[0] if places else None
    return f"{best.path}#{best.key}" if best is not None and best.place >= 0 else ""


def _score(words: list[str], name: str, qualified: str) -> float:
    """Return how well a name matches: the whole name, its beginning, or a part of it or of the names around it."""
    if name == words[-1] and (len(words) == 1 or all(word in qualified for word in words)):
        return 1.0
    lower, last = name.lower(), words[-1].lower()
    if lower == last:
        return 0.9
    return 0.7 if lower.startswith(last) else 0.5 if last in lower else 0.3
