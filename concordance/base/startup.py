"""Decides what a process of this program may import, and from where it may start other programs.

In: Python's module path and the environment as they were inherited. Out: both without the current folder and without
the repository around it.

The program is usually run inside the repository that it documents, and must run nothing of it. The current folder gets
onto the module path by an empty or relative entry of PYTHONPATH (`PYTHONPATH=$PYTHONPATH:/lib` with nothing set
before is the usual cause), and onto the paths of programs and libraries in the same way. What Python itself imports
before the first line of this program (`sitecustomize`) is beyond our reach there.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable

NEUTRAL = "/"  # the folder that child processes start in: only the system's administrator can put a file there
_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # holds the package itself
_PATHS = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
_FOLDERS = ("TMPDIR", "TEMP", "TMP", "CONCORDANCE_CACHE", "XDG_CACHE_HOME")


def harden() -> None:
    """Cleans this process; called by the command line before it imports anything else."""
    repository = _repository()
    sys.path[:] = import_path(sys.path, os.environ.get("PYTHONPATH", ""), repository)
    if sys.pycache_prefix and not os.path.isabs(sys.pycache_prefix):
        sys.pycache_prefix = None  # else compiled modules would be loaded from the current folder
    os.environ["PYTHONSAFEPATH"] = "1"
    for name in ("PYTHONPATH", *_PATHS):
        if name in os.environ:
            os.environ[name] = search_path(os.environ[name], repository)
    for name in _FOLDERS:  # children start in another folder
        if os.environ.get(name):
            os.environ[name] = os.path.abspath(os.environ[name])


def import_path(path: Iterable[str], from_environment: str, repository: str) -> list[str]:
    """The entries of a module path that lie outside of a repository, and those of the installation wherever it lies.

    Entries of PYTHONPATH come last, so that nothing there stands in for a module of the installation.
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
    found = [*first, *last]
    return found if _HOME in found else [*found, _HOME]


def child_path() -> list[str]:
    """The module path of a child process: this process's own without the current folder."""
    found = [entry for entry in sys.path if os.path.isabs(entry)]
    return found if _HOME in found else [*found, _HOME]


def search_path(value: str, repository: str) -> str:
    """A list of folders, as in PATH, without relative and empty ones, which mean the current folder, and without those
    inside a repository."""
    entries = value.split(os.pathsep)
    return os.pathsep.join(one for one in entries if os.path.isabs(one) and not is_inside(one, repository))


def is_inside(path: str, folder: str) -> bool:
    """Whether a path leads into a folder. None is inside "", and none is inside the root of the file system, in which
    everything is."""
    real = os.path.realpath(folder) if folder else os.sep
    return real != os.sep and os.path.join(os.path.realpath(path), "").startswith(os.path.join(real, ""))


def _is_installed(entry: str) -> bool:
    """Whether an entry of the module path belongs to this Python or its packages."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    places = [os.path.dirname(os.__file__), os.path.join(sys.prefix, "lib", version), *site.getsitepackages()]
    if site.ENABLE_USER_SITE and site.USER_SITE:
        places.append(site.USER_SITE)
    return any(os.path.join(entry, "").startswith(os.path.join(place, "")) for place in places)


def _repository() -> str:
    """The repository around the current folder, or that folder; "" where there is none."""
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
