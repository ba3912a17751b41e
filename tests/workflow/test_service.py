"""What `lsp`, `mcp` and `serve` share: a missing extra is named, and showing a page changes nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from concordance import serve
from concordance.api import Repository
from concordance.base import plugins
from concordance.base.errors import UserError
from concordance.workflow.show import show_pages
from tests.support.program import write


@pytest.mark.parametrize(("command", "library"), [("lsp", "pygls"), ("mcp", "mcp_types")])
def test_a_missing_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, library: str) -> None:
    for name in [name for name in sys.modules if name == library or name.startswith(f"{library}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"concordance.serve.{command}_server", raising=False)
    monkeypatch.delattr(serve, f"{command}_server", raising=False)
    with pytest.raises(UserError, match=rf"{library}.*pip install 'repo-concordance\[{command}\]'"):
        plugins.load("concordance.tasks", command).command.main([str(folder)], standalone_mode=False)


def test_a_page_that_is_shown_leaves_the_settings_of_pages(folder: Path) -> None:
    """`show` leaves out the source; pages made from the same index later include it."""
    write(folder, {"a.py": "def grow():\n    return 1\n"})
    with Repository(folder) as repository:
        index = repository._index
        before = index.book
        [page] = show_pages(str(folder), index, "a.py")
        assert page["path"] == "a.py" and "return 1" not in page["text"]
        with pytest.raises(UserError):
            show_pages(str(folder), index, "nothing.of_this_name")
        assert index.book == before and before.source
