"""`concord init`: write a `concordance.toml` that explains every setting, or a section of `AGENTS.md` for agents.

In: a repository. Out: a file with every setting, explained and at its default, commented out by a `#`. If a value can
be found out (where imports and includes start, where a book already exists), it is used instead of the default. An
existing file is never overwritten. With `--agents` the section is written or refreshed, from the store.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections import Counter
from collections.abc import Iterable

import click

from concordance import api
from concordance.base import config_file
from concordance.base.blocks import count_noun
from concordance.base.config import Config
from concordance.base.errors import NoPermission, UserError
from concordance.base.kinds import Category
from concordance.base.model import File, ListedFile, Skip
from concordance.collect import walk
from concordance.collect.classify import Classifier, header_language
from concordance.extract import registry
from concordance.link.cfamily.include_roots import IncludeRoots
from concordance.link.paths.tree import Tree, enclosing_folders
from concordance.link.python.packages import SOURCES, STUBS, PythonPackages
from concordance.query.sections.section_order import titles
from concordance.render.output import agents_file
from concordance.workflow import book_options, store_location, terminal

MOST_ROOTS = 12  # maximum number of roots of a kind to fill in
_NOT_MAIN_SOURCE = frozenset((Category.VENDORED, Category.TEST, Category.EXAMPLE, Category.BENCHMARK))
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc")

TEXT = """\
# How Concordance documents this repository. Each line of the form `#name = value` shows a default, or what was found:
# remove the # to set it. Command line options take precedence over this file. Patterns have the syntax of .gitignore.

# Which files to document: those that match a pattern of `include` (all, if it is empty) and none of `exclude`. The
# report of the book says how many files each pattern left out.
#include = []
#exclude = []

# Folder of the book, inside this repository.
{out}

# Pages contain the source ("full") or link to it ("link").
#source = "full"

# Show on pages when and by whom files were changed. The commit that adds such a book already makes it stale.
#history = false

# Write pages about the book's own pages, too.
#include_generated = false

# Maximum number of worker processes; never more than there are cores.
#jobs = {jobs}

# Bytes: larger text files are listed, but not parsed.
#largest = {largest}

# Folders where Python imports start, and folders where includes of C, C++, CUDA and Objective-C start, searched in this
# order and before all others. Those listed were found and are searched anyway: set them if names resolve wrongly.{more}
#[roots]
#python = {python}
#c = {c}

# Categories of files that are not recognised automatically: patterns, each with one of the words below. The last
# match wins.
{categories}
#[categories]
#   "qa/" = "test"

# Rules for findings, by id or with * for several: `off` disables rules, `on` exempts some from `off`, and `allowed`
# lists files that may break a rule. The book lists all rules in book/rules/.
#[rules]
#off = []
#on = []
#[rules.allowed]
#   PY-EXEC = ["tools/"]

# Sections to leave out of the pages of files, any of:
{sections}
#[sections]
#off = []

# Your own text about a file or a folder, in Markdown: it is shown on its page, as yours. As many as you like.
#   [[note]]
#   path = "README.md"
#   text = "Start here."
"""


@click.command("init")
@click.argument("repo", default=".", type=click.Path(readable=False))
@click.option(
    "--agents",
    is_flag=True,
    help=f"Write or refresh a section of {agents_file.FILE} instead, and leave the rest of that file as it is.",
)
@book_options.with_store
@book_options.YES
def command(repo: str, agents: bool, yes: bool) -> None:
    """Write a concordance.toml in which every setting is explained, or a section of AGENTS.md for coding agents.

    No settings are overwritten, and none changes until you remove a #. The section says what the repository is, where
    to start, how to build and test it, and how to ask `concord`; run it again to refresh it.

    \b
    concord init
    concord init ~/src/pytorch
    concord init --agents
    """  # fmt: skip
    if agents:
        _write_agents_section(store_location.root_of(repo, yes))
        return
    entries, books = walk.walk_with_counts(repo)
    path = os.path.join(repo, config_file.FILE)
    if os.path.lexists(path):
        advice = "Edit it; to start over, move it away first"
        raise UserError(f"{path} already exists, and is not overwritten", advice)
    if config_file.has_settings(repo, config_file.SHARED):
        advice = f"Edit them there, or move them into a {config_file.FILE}, which takes precedence"
        raise UserError(f"{os.path.join(repo, config_file.SHARED)} already contains settings", advice)
    text = fill_template(repo, entries, books)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise NoPermission(f"{path} cannot be written: {error.strerror}", "Check its folder's permissions") from error
    click.echo(f"Wrote {path}: every setting at its default, commented out")
    click.echo("Next: remove the # from what you want to change, then run: concord build")


def _write_agents_section(root: str) -> None:
    with terminal.ProgressBars() as bar:
        repository = api.Repository(root, True, bar.show)
    with repository:
        section = repository.agents_section()
    path = os.path.join(root, agents_file.FILE)
    existed = os.path.exists(path)
    if not agents_file.write_section(root, section):
        click.echo(f"{path} is current")
    elif existed:
        click.echo(f"Wrote a section of {path}; the rest of the file is as it was")
    else:
        click.echo(f"Created {path} with a section about this repository")


def fill_template(root: str, entries: list[ListedFile], books: dict[str, int]) -> str:
    """Return the text, filled in with what was found in a repository."""
    tree = Tree(root, _files(entries))
    python, c = _python(tree), _c(tree)
    book = next((folder for folder in sorted(books) if folder.isprintable() and folder[:1] not in ("", ".")), "")
    left = max(0, len(python) - MOST_ROOTS) + max(0, len(c) - MOST_ROOTS)
    return TEXT.format(
        out=f"out = {json.dumps(book)}" if book else f"#out = {json.dumps(config_file.BOOK)}",
        jobs=Config().jobs,
        largest=Config.largest,
        more=f"\n# These are the {MOST_ROOTS} of each kind with the most files; {count_noun(left, 'other')} left out."
        if left
        else "",
        python=json.dumps(python[:MOST_ROOTS], ensure_ascii=False),
        c=json.dumps(c[:MOST_ROOTS], ensure_ascii=False),
        categories=_join_lines(category.value for category in Category),
        sections=_join_lines(json.dumps(title) for title in titles()),
    )


def _join_lines(words: Iterable[str]) -> str:
    return textwrap.fill(", ".join(words), 115, initial_indent="#   ", subsequent_indent="#   ")


def _files(entries: list[ListedFile]) -> list[File]:
    """Return the files, classified by name only; nothing is opened."""
    classifier = Classifier(registry.languages(), Config.largest, header_language(entry.path for entry in entries))
    files = []
    for entry in entries:
        is_plain = entry.skip is Skip.NONE
        form = classifier.form(entry.path, b"") if is_plain else classifier.unread(entry.path, entry.skip, "")
        files.append(
            File(entry.path, form.language, form.category, form.type, "utf-8", entry.size, 0, "", entry.skip,
                 entry.note, entry.changed)
        )  # fmt: skip
    return files


def _python(tree: Tree) -> list[str]:
    """Return the folders where imports start, those with the most files first."""
    places = PythonPackages(tree)
    counts: Counter[str] = Counter()
    for path in sorted(tree.paths):
        if path.endswith((*SOURCES, *STUBS)) and tree.files[path].category not in _NOT_MAIN_SOURCE:
            counts[places.root_of(path.rpartition("/")[0])] += 1
    return _format_value(counts)


def _c(tree: Tree) -> list[str]:
    """Return the folders that build files pass to the compiler, those with the most headers below them first."""
    named = IncludeRoots(tree).roots
    counts: Counter[str] = Counter()
    for path in sorted(tree.paths) if named else ():
        if path.endswith(_HEADERS):
            counts.update(folder for folder in enclosing_folders(path.rpartition("/")[0]) if folder in named)
    return _format_value(counts)


def _format_value(counts: Counter[str]) -> list[str]:
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [folder or "." for folder, _ in ordered if f"{folder}.".isprintable()]
