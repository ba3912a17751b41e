"""`concord init`: writes a `concordance.toml` to begin with.

In: a repository. Out: a file with every setting, each explained and at its default, behind a `#` that one takes away to
set it; where a value can be found out (where imports and includes start, where a book stands already) it is the found
one. What is there is never overwritten.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections import Counter
from collections.abc import Iterable

import click

from concordance.base import config_file
from concordance.base.config import Config
from concordance.base.errors import NoPermission, UserError
from concordance.base.kinds import Category, Section
from concordance.base.model import File, ListedFile, Skip
from concordance.collect import walk
from concordance.collect.classify import Classifier, header_language
from concordance.extract import registry
from concordance.link.cfamily.include_roots import IncludeRoots
from concordance.link.paths.tree import Tree, above
from concordance.link.python.packages import SOURCES, STUBS, PythonPackages

MOST = 12  # roots of a kind that are filled in
_ASIDE = frozenset((Category.VENDORED, Category.TEST, Category.EXAMPLE, Category.BENCHMARK))
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc")

TEXT = """\
# How Concordance documents this repository. Each line of the form `#name = value` shows a default, or what was found:
# take the # away to set it. Options on the command line win over this file. Patterns are those of .gitignore.

# Which files are documented: those that fit one of `include` (all, where it is empty), without those that fit one of
# `exclude`. The report of the book says how many were left out by which pattern.
#include = []
#exclude = []

# The folder of the book, inside of this repository.
{out}

# Whether pages hold the source ("full"), or link it ("link").
#source = "full"

# Whether pages say when and by whom files were changed. Such a book is stale with the commit that it is part of.
#history = false

# Whether there are pages about the book's own pages, too.
#include_generated = false

# Worker processes: at most so many, and never more than there are cores.
#jobs = {jobs}

# Bytes: larger text is listed, but not parsed.
#largest = {largest}

# Folders where imports of Python start, and folders where includes of C, C++, CUDA and Objective-C start, asked in
# this order and before all others. Those here were found, and are asked anyway: set them where names lead astray.{more}
#[roots]
#python = {python}
#c = {c}

# What files are for, where that is not seen by itself: patterns, each with one of the words below. The last that fits
# counts.
{categories}
#[categories]
#   "qa/" = "test"

# Rules of findings, by their ids or with * for several: those that say nothing, those that do all the same, and files
# where one is allowed to be broken. The book lists all rules in book/rules/.
#[rules]
#off = []
#on = []
#[rules.allowed]
#   PY-EXEC = ["tools/"]

# Sections of files' pages that are left out, of:
{sections}
#[sections]
#off = []

# What you want to say about a file or a folder, in Markdown: it stands on its page, as your words. As many as you like.
#   [[note]]
#   path = "README.md"
#   text = "Start here."
"""


@click.command("init")
@click.argument("repo", default=".", type=click.Path(readable=False))
def command(repo: str) -> None:
    """Write a concordance.toml with every setting explained, to begin with.

    Nothing is overwritten, and nothing changes before you take a # away.

    \b
    concord init
    concord init ~/src/pytorch
    """
    entries, books = walk.walked(repo)
    path = os.path.join(repo, config_file.FILE)
    if os.path.lexists(path):
        advice = "Edit it; to begin anew, move it away first"
        raise UserError(f"{path} is there already, and is not overwritten", advice)
    if config_file.holds(repo, config_file.SHARED):
        advice = f"Edit them there, or move them into a {config_file.FILE} of your own: it would win over them"
        raise UserError(f"{os.path.join(repo, config_file.SHARED)} holds settings already", advice)
    text = filled(repo, entries, books)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise NoPermission(f"{path} cannot be written: {error.strerror}", "See that you may write there") from error
    click.echo(f"{path} is written: every setting at its default, behind a #")
    click.echo("Next: take away the # where you want something else, then run: concord build")


def filled(root: str, entries: list[ListedFile], books: dict[str, int]) -> str:
    """The text with what was found in a repository."""
    tree = Tree(root, _files(entries))
    python, c = _python(tree), _c(tree)
    book = next((folder for folder in sorted(books) if folder.isprintable() and folder[:1] not in ("", ".")), "")
    left = max(0, len(python) - MOST) + max(0, len(c) - MOST)
    return TEXT.format(
        out=f"out = {json.dumps(book)}" if book else f"#out = {json.dumps(config_file.BOOK)}",
        jobs=Config().jobs,
        largest=Config.largest,
        more=f"\n# Here are the {MOST} of each kind with the most files; {left:,} more were found." if left else "",
        python=json.dumps(python[:MOST], ensure_ascii=False),
        c=json.dumps(c[:MOST], ensure_ascii=False),
        categories=_listed(category.value for category in Category),
        sections=_listed(json.dumps(section.value) for section in Section),
    )


def _listed(words: Iterable[str]) -> str:
    return textwrap.fill(", ".join(words), 115, initial_indent="#   ", subsequent_indent="#   ")


def _files(entries: list[ListedFile]) -> list[File]:
    """The files as their names alone tell them; nothing is opened."""
    classifier = Classifier(registry.languages(), Config.largest, header_language(entry.path for entry in entries))
    found = []
    for entry in entries:
        is_plain = entry.skip is Skip.NONE
        form = classifier.form(entry.path, b"") if is_plain else classifier.unread(entry.path, entry.skip, "")
        found.append(
            File(entry.path, form.language, form.category, form.type, "utf-8", entry.size, 0, "", entry.skip,
                 entry.note, entry.changed)
        )  # fmt: skip
    return found


def _python(tree: Tree) -> list[str]:
    """The folders where imports start, those of the most files first."""
    places = PythonPackages(tree)
    counts: Counter[str] = Counter()
    for path in sorted(tree.paths):
        if path.endswith((*SOURCES, *STUBS)) and tree.files[path].category not in _ASIDE:
            counts[places.root_of(path.rpartition("/")[0])] += 1
    return _shown(counts)


def _c(tree: Tree) -> list[str]:
    """The folders that build files hand to the compiler, those with the most headers below them first."""
    named = IncludeRoots(tree).named
    counts: Counter[str] = Counter()
    for path in sorted(tree.paths) if named else ():
        if path.endswith(_HEADERS):
            counts.update(folder for folder in above(path.rpartition("/")[0]) if folder in named)
    return _shown(counts)


def _shown(counts: Counter[str]) -> list[str]:
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [folder or "." for folder, _ in ordered if f"{folder}.".isprintable()]
