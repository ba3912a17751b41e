"""Finds outside programs, and says what they may know of this process.

In: a program's name, and the repository that it is to look at. Out: the program's absolute path, and its environment.

A repository may hold a file called `git`. PATH leads to it where one of its entries is relative or empty (the current
folder) or lies in the repository, so such entries do not count. Of the environment only what programs need to find
their own files and libraries is passed on: any other variable might be one by which a program is told to run another.
"""

from __future__ import annotations

import os

from concordance.base import startup

_PASSED = ("LANG", "LANGUAGE", "LOGNAME", "RAYON_NUM_THREADS", "TZ", "USER")
_FOLDERS = ("DEVELOPER_DIR", "HOME", "TMPDIR", "XDG_CONFIG_HOME")  # only where they are absolute
_LISTS = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")


def find(name: str, repository: str) -> str:
    """The absolute path of a program that is not the repository's; "" where there is none."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        place = os.path.join(folder, name)
        is_there = os.path.isabs(folder) and os.access(place, os.X_OK) and os.path.isfile(place)
        if is_there and not startup.is_inside(folder, repository):
            return place
    return ""


def environment(repository: str) -> dict[str, str]:
    """The variables that a program is run with."""
    found = {name: os.environ[name] for name in _PASSED if name in os.environ}
    found |= {name: os.environ[name] for name in _FOLDERS if os.path.isabs(os.environ.get(name, ""))}
    for name in _LISTS:
        if name in os.environ:
            found[name] = startup.search_path(os.environ[name], repository)
    found["LC_ALL"] = "C"  # messages are read
    return found
