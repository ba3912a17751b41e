"""Passes a question to the command that answers it, whether it came from a terminal, a program or a browser."""

from __future__ import annotations

from concordance.base import plugins
from concordance.base.errors import UserError
from concordance.query.answers import Answer, page_for
from concordance.query.index.repository import Index

COMMANDS = "concordance.query.commands"


# ---
# A question to one of the commands, however it came here: from a terminal, a program or a browser.
#
# In: a command's name, what it is asked about and how much is wanted. Out: its answer.


def ask(
    index: Index, command: str, asked: str | None = None, limit: int = 1000, cursor: str = "", **options: object
) -> Answer:
    """Run a command by name and return one page of its answer."""
    module = plugins.load(COMMANDS, command)
    if asked is None and module.ARGUMENT and not module.ARGUMENT.startswith("["):
        raise UserError(f"`{command}` needs an argument", f"Give it {module.ARGUMENT}")
    answer: Answer = module.answer(index, asked, page_for(module, limit, cursor, options))
    return answer
