"""Locates a repository's store: in its `.concordance` folder, or in the folder given with `--store`.

In: a repository. Out: the folder of its store, created if it is missing. A store elsewhere (`--store`, or the
environment variable CONCORDANCE_STORE) leaves the repository untouched, so that a read-only one can be documented; the
default folder of the book moves with it. Such a folder contains a file that names its repository: an update compares
files with what the store knows of their paths, so the store of another repository would be partly believed. The option
is passed on as the environment variable, which the processes of a server inherit.

A command builds the store that it needs, so `concord define x` typed in a home folder would read all of it. Therefore
`ask_first` asks before reading a folder that is neither under version control nor indexed: on a terminal, or `--yes`
answers. `concord build DIR` names the folder explicitly and does not ask.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
import time
from contextlib import closing, suppress
from itertools import islice

import click

from concordance.base.blocks import count_noun
from concordance.base.characters import escape_hidden
from concordance.base.confined_folder import ConfinedFolder, LinkRefused, split_trusted
from concordance.base.errors import NoPermission, StoreFailed, UserError
from concordance.collect.walk import find_root, folder_files, is_under_version_control
from concordance.facts.integrity.failures import is_disk_full

_MAX_FILES_COUNTED, _SECONDS = 100_000, 0.5  # most files, and most seconds, that the estimate looks at
FOLDER = ".concordance"
VARIABLE = "CONCORDANCE_STORE"
OWNER = "repository"  # the file in an external store that names its repository
_ADVICE = "Put the store elsewhere with --store DIR, and a book with --out DIR"


def use_store(folder: str | None) -> None:
    """Use the store folder given on the command line, for this process and its children."""
    if folder is not None:
        os.environ[VARIABLE] = os.path.abspath(folder)  # absolute, as readers of a server change their working folder


def store_path(root: str) -> str:
    """Return the folder of a repository's store."""
    return os.environ.get(VARIABLE) or os.path.join(root, FOLDER)


def has_store(root: str) -> bool:
    """True if a repository was indexed before."""
    return os.path.lexists(os.path.join(store_path(root), "index.db"))


def check_store(root: str) -> str:
    """Return the folder of a repository's store; raises if it belongs to another or is not a folder."""
    folder = store_path(root)
    try:
        os.fsencode(os.path.abspath(folder)).decode()
    except UnicodeDecodeError as error:
        advice = "Rename that folder, or put the store elsewhere (--store DIR)"
        raise UserError(f"the path of {folder} is not valid UTF-8, which the full-text index needs", advice) from error
    if os.path.lexists(folder):
        _require_folder(folder)
    if _is_elsewhere(root, folder):
        _check_elsewhere(root, folder)
    return folder


def make_store(root: str, inner: str = "") -> str:
    """Create the folder of a repository's store, or one inside it, and return it; git ignores it."""
    folder = check_store(root)
    try:
        if _is_elsewhere(root, folder):
            os.makedirs(folder, exist_ok=True)
            _sign(root, folder)
        _make(folder)
        if inner:
            folder = os.path.join(folder, inner)
            _make(folder)
    except OSError as error:
        if is_disk_full(error):
            raise StoreFailed(f"{folder} cannot be created: {error.strerror}", "Free some space there") from error
        raise NoPermission(f"{folder} cannot be created: {error.strerror}", _ADVICE) from error
    return folder


def _make(folder: str) -> None:
    with suppress(FileExistsError):
        os.mkdir(folder)
    _require_folder(folder)
    ignore = os.path.join(folder, ".gitignore")
    if not os.path.lexists(ignore):
        with suppress(FileExistsError), open(ignore, "x") as file:  # another build may start at the same time
            file.write("*\n")


def _require_folder(folder: str) -> None:
    if not stat.S_ISDIR(os.lstat(folder).st_mode):  # a repository may contain one that points elsewhere
        raise UserError(f"{folder} is a link or a file, where the store's folder should be", "Remove it")


# --- an external store


def _is_elsewhere(root: str, folder: str) -> bool:
    inside = split_trusted(folder, (root,))
    if inside[1] == FOLDER:
        return False
    if inside[1] or _is_same(folder, root):
        advice = "Choose a folder outside it (--store)"
        raise UserError(f"{folder} is inside the repository, so the store would become part of its files", advice)
    return True


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _check_elsewhere(root: str, folder: str) -> None:
    with closing(ConfinedFolder(folder, what_to_do="Name another folder (--store)")) as place:
        try:
            names = sorted(set(place.names()) - {".gitignore"})
            owner = place.read(OWNER) if OWNER in names else b""
        except FileNotFoundError:
            return
        except OSError as error:
            raise NoPermission(f"{folder} cannot be read: {error.strerror}", "Name another folder (--store)") from error
    if names and not owner:
        some = f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}"
        advice = "Name a folder that is new, empty, or an earlier store of this repository (--store)"
        raise UserError(f"{folder} contains files that Concordance did not write ({some})", advice)
    if owner and owner != _signature(root):
        known = os.fsdecode(owner).rstrip("\n")
        advice = "Name another folder (--store); if the repository was moved, remove the old store first"
        raise UserError(f"{folder} is the store of {known}, not of {os.path.realpath(root)}", advice)


def _signature(root: str) -> bytes:
    return os.fsencode(os.path.realpath(root)) + b"\n"


def _sign(root: str, folder: str) -> None:
    with closing(ConfinedFolder(folder)) as place:
        try:
            if place.read(OWNER) == _signature(root):
                return
        except (FileNotFoundError, LinkRefused):
            pass
        place.write(f"{OWNER}.{os.getpid()}.new", OWNER, _signature(root))


# --- asking before reading


def root_of(repo: str | None, yes: bool) -> str:
    """Return the folder that a command is about: the given one, else the repository around the current folder."""
    root = repo if repo is not None else find_root(os.getcwd())
    ask_first(root, yes)
    return root


def ask_first(root: str, yes: bool) -> None:
    """Ask before reading a folder that is neither a repository nor indexed."""
    if yes or not os.path.isdir(root) or has_store(root) or is_under_version_control(root):
        return
    shown = escape_hidden(os.path.realpath(root))
    what = f"{shown} is neither a repository nor indexed"
    if not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        advice = "To read all files below it, add --yes, or run once: concord build"
        raise UserError(f"{what}, so nothing was read", f"{advice} {shlex.quote(shown)}")
    try:
        agreed = click.confirm(f"{what}. Read all of it: {_estimate(root)}?", err=True)
    except click.Abort:  # Ctrl-C, or the end of the input
        agreed = False
    if not agreed:
        raise UserError("nothing was read", "Name a repository, or run the command inside one")


def _is_terminal(stream: object) -> bool:
    return stream is not None and stream.isatty()  # type: ignore[attr-defined]  # None if the caller closed it


def _estimate(root: str) -> str:
    """Return how much there is to read, as far as can be seen in a moment."""
    end = time.monotonic() + _SECONDS
    number, size = 0, 0
    for entry in islice(folder_files(root), _MAX_FILES_COUNTED):
        number, size = number + 1, size + entry.size
        if time.monotonic() > end:
            return f"more than {count_noun(number, 'file')}, {size / 1e6:,.0f} MB"
    counted = count_noun(number, "file")
    return f"{counted}, {size / 1e3:,.0f} KB" if number < _MAX_FILES_COUNTED else f"more than {counted}"
