"""The query commands, one file per command, found by its name.

A command's module defines

- `HELP`: what it answers, with examples
- `ARGUMENT`: its argument as the help shows it: "PATH", "NAME", "PATH or NAME"; in "[]" if it is optional, followed by
  "..." if several words form one query ("QUERY..."), "" if there is no argument; "[FILE]" if the argument is a text,
  which the command line reads from a file or from standard input
- `OPTIONS`: its own options, a tuple of `Option`; may be omitted
- `answer(index, argument, page) -> Answer`: `index` is the repository (`query.index`), `argument` what was typed (None
  if there was nothing), `page.options` the value of each of its options by name

`index.file(argument)` returns the file of a PATH, `resolver.resolve_symbols(index, argument)` (`query.names`) the
symbols of a NAME, best first, and `resolver.resolve_subject(index, argument)` whichever of the two a PATH or NAME
refers to. All three raise a `UserError` that suggests the nearest names if there is no match. `answers.paginate` cuts a
page out of all rows by `page.limit` and `page.cursor`. The `note` of an answer without rows says what was searched.
"""

from __future__ import annotations

from typing import Any, Protocol

from concordance.base import plugins
from concordance.base.errors import UserError
from concordance.query.answers import Answer, AnswerPage, page_for
from concordance.query.index.repository import Index


class QueryCommand(Protocol):
    """A question that `concord` answers."""

    HELP: str
    ARGUMENT: str

    def answer(self, index: Index, argument: Any, page: AnswerPage) -> Answer:
        """Answer the question. `argument` is a string, or None if the argument is optional and was not given."""


PROTOCOL = QueryCommand

COMMANDS = "concordance.query.commands"


def ask(
    index: Index, command: str, argument: str | None = None, limit: int = 1000, cursor: str = "", **options: object
) -> Answer:
    """Run a command by name, however the question came here, and return one page of its answer."""
    module = plugins.load(COMMANDS, command)
    if argument is None and module.ARGUMENT and not module.ARGUMENT.startswith("["):
        raise UserError(f"`{command}` needs an argument", f"Give it {module.ARGUMENT}")
    answer: Answer = module.answer(index, argument, page_for(module, limit, cursor, options))
    return answer
