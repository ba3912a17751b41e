"""Restricts what this process may import, and where it may find other programs.

In: the inherited Python module path and environment. Out: both without the current folder and without the repository
around it.

The program is usually run inside the repository that it documents, and must not run any code of it. The current folder
gets onto the module path by an empty or relative entry of PYTHONPATH (usually by `PYTHONPATH=$PYTHONPATH:/lib` when the
variable was not set before), and onto the search paths of programs and libraries in the same way. Modules that Python
itself imports before the first line of this program (`sitecustomize`) are beyond our reach.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable

NEUTRAL = "/"  # the working folder of child processes: only the system's administrator can put a file there
_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # parent folder of this package
SEARCH_PATHS = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
_FOLDERS = ("TMPDIR", "TEMP", "TMP", "CONCORDANCE_CACHE", "XDG_CACHE_HOME")


def harden() -> None:
    """Clean up this process's paths; the command line calls this before it imports anything else."""
    repository = _repository()
    sys.path[:] = import_path(sys.path, os.environ.get("PYTHONPATH", ""), repository)
    if sys.pycache_prefix and not os.path.isabs(sys.pycache_prefix):
        sys.pycache_prefix = None  # otherwise compiled modules would be loaded from the current folder
    os.environ["PYTHONSAFEPATH"] = "1"
    for name in ("PYTHONPATH", *SEARCH_PATHS):
        if name in os.environ:
            os.environ[name] = search_path(os.environ[name], repository)
    for name in _FOLDERS:  # absolute, because child processes start in another folder
        if os.environ.get(name):
            os.environ[name] = os.path.abspath(os.environ[name])


def import_path(path: Iterable[str], from_environment: str, repository: str) -> list[str]:
    """Return the entries of a module path that lie outside a repository, and those of the installation wherever it is.

    Entries of PYTHONPATH come last, so that nothing in them replaces a module of the installation.
    """
    asked = {os.path.abspath(entry) for entry in from_environment.split(os.pathsep)} if from_environment else set()
    relative = {os.path.abspath(entry) for entry in from_environment.split(os.pathsep) if not os.path.isabs(entry)}
    first: list[str] = []
    last: list[str] = []
    for entry in path:
        if entry == _HOME or _is_installed(entry):
            first.append(entry)
        elif os.path.isabs(entry) and entry not in relative and not is_inside(entry, repository):
            (last if entry in asked else first).append(entry)
    entries = [*first, *last]
    return entries if _HOME in entries else [*entries, _HOME]


def child_path() -> list[str]:
    """Return the module path for a child process: the one of this process, without the current folder."""
    entries = [entry for entry in sys.path if os.path.isabs(entry)]
    return entries if _HOME in entries else [*entries, _HOME]


def search_path(value: str, repository: str) -> str:
    """Return a list of folders, as in PATH, without empty and relative entries and those inside a repository.

    Empty and relative entries refer to the current folder.
    """
    entries = value.split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry) and not is_inside(entry, repository))


def is_inside(path: str, folder: str) -> bool:
    """True if a path resolves into a folder.

    Nothing is inside "", and nothing counts as inside the root of the file system, because everything is.
    """
    real = os.path.realpath(folder) if folder else os.sep
    return real != os.sep and os.path.join(os.path.realpath(path), "").startswith(os.path.join(real, ""))


def _is_installed(entry: str) -> bool:
    """True if an entry of the module path belongs to this Python installation or its packages."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    places = [os.path.dirname(os.__file__), os.path.join(sys.prefix, "lib", version), *site.getsitepackages()]
    if site.ENABLE_USER_SITE and site.USER_SITE:
        places.append(site.USER_SITE)
    return any(os.path.join(entry, "").startswith(os.path.join(place, "")) for place in places)


def _repository() -> str:
    """Return the repository around the current folder, or the current folder itself; "" if there is neither."""
    try:
        here = folder = os.getcwd()
    except OSError:
        return ""
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above
    return folder
