"""One file per command, found by its name.

A command's file holds

- `HELP`: what it answers, and an example
- `ARGUMENT`: what it is asked about, as its help shows it: "PATH", "NAME", "PATH or NAME"; with "[]" around it where it
  may be left out, "..." behind it where several words are one question ("QUERY..."), "" where there is nothing to say
- `OPTIONS`: its own options, a tuple of `Option`; left out where there are none
- `answer(index, asked, page) -> Answer`: `index` is the repository (`query.index`), `asked` what was typed (None
  where nothing was), `page.options` the value of each own option by its name

`index.file(asked)` is the file of a PATH, `resolver.find(index, asked)` (`query.names`) the symbols of a NAME, best
first, and `resolver.subject(index, asked)` what PATH or NAME means; all three raise a `UserError` that says what is
nearest where there is none. `page.limit` and `page.cursor` are what `paged` needs to cut a page. An answer with no
rows says in its `note` what was searched.
"""

from __future__ import annotations

from typing import Protocol

from concordance.query.answers import Answer, AnswerPage
from concordance.query.index.repository import Index


class QueryCommand(Protocol):
    """A question that `concord` answers."""

    HELP: str
    ARGUMENT: str

    def answer(self, index: Index, asked: str | None, page: AnswerPage) -> Answer:
        """Answer the question."""


PROTOCOL = QueryCommand
