"""Workspaces that tests make: packages of several languages that import one another."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from concordance.query.workspace import workspace_file
from concordance.query.workspace.commands import WorkspaceQuestions
from concordance.query.workspace.repositories import OpenWorkspace
from concordance.workflow.stages import catalogue
from concordance.workflow.stages.catalogue import WorkspaceBuild
from tests.support import program

# The repositories of most tests. `shop` uses all others; the version of `ledger` that it wants is not there.
REPOSITORIES: dict[str, dict[str, str]] = {
    "ledger": {
        "pyproject.toml": '[project]\nname = "ledger"\nversion = "2.1.0"\n',
        "src/ledger/__init__.py": "from ledger.books import Book as Book, total\n",
        "src/ledger/books.py": (
            "class Book:\n    def add(self, sum: int) -> None:\n        self.sum = sum\n\n\n"
            "def total(book: Book) -> int:\n    return book.sum\n"
        ),
    },
    "mint": {
        "setup.cfg": "[metadata]\nname = mint\nversion = 1.0\n[options]\ninstall_requires =\n    ledger>=2\n",
        "mint/__init__.py": "from ledger import Book as CoinBook\n\n\ndef strike() -> CoinBook:\n    return CoinBook()\n",
    },
    "shop": {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = [\n  "ledger>=3",\n  "mint",\n]\n',
        "shop/__init__.py": "",
        "shop/till.py": (
            "import ledger\nfrom ledger import Book\nfrom mint import CoinBook, strike\n\n\n"
            "def sell() -> int:\n    book = Book()\n    strike()\n    return ledger.total(book)\n\n\n"
            "def close() -> int:\n    return sell()\n"
        ),
        "shop/fast.cpp": "#include <scales/weigh.h>\n\nint weight() { return scales::weigh(2); }\n",
    },
    "scales": {
        "CMakeLists.txt": "project(scales VERSION 0.3)\n",
        "include/scales/weigh.h": "namespace scales {\nint weigh(int grams);\n}\n",
    },
    "tags.js": {
        "package.json": '{\n "name": "tags",\n "version": "1.2.0",\n "main": "lib/tag.js"\n}\n',
        "lib/tag.js": "function tag (text) {\n  return `<${text}>`\n}\n\nmodule.exports = { tag }\n",
    },
    "page.js": {
        "package.json": '{\n "name": "page",\n "version": "3.0.0",\n "dependencies": {\n  "tags": "^1.0.0"\n }\n}\n',
        "index.js": "const { tag } = require('tags')\n\nfunction page () {\n  return tag('b')\n}\n\nmodule.exports = page\n",
    },
}  # fmt: skip


def make_workspace(folder: Path, repositories: Mapping[str, Mapping[str, str]] = REPOSITORIES) -> Path:
    """Writes repositories, and a workspace of them."""
    for name, files in repositories.items():
        program.write(folder / name, dict(files))
    workspace = folder / "team"
    workspace.mkdir(exist_ok=True)
    workspace_file.write_repositories(str(workspace), {name: str(folder / name) for name in repositories})
    return workspace


def build(workspace: Path, *names: str) -> WorkspaceBuild:
    return catalogue.build(str(workspace), names)


class Opened:
    """A workspace that is asked."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = OpenWorkspace(str(workspace), catalogue.repository_settings)
        self.questions = WorkspaceQuestions(self.workspace)

    def ask(self, command: str, asked: str, *fields: str) -> list[str]:
        """The rows of an answer, of each some fields."""
        shown = fields or ("repository", "path", "line")
        return [" ".join(str(row[field]) for field in shown) for row in self.questions.ask(command, asked).rows]
