"""The name of a repository in the address of its remote.

In: a folder. Out: the last part of the address of `origin`, or else of the first remote that git's configuration lists.
The file is read without git, because every command needs it and starting a program takes longer than most answers.
"""

from __future__ import annotations

import os
import re

from concordance.collect import subprocesses

_REMOTE = re.compile(r'^[ \t]*\[remote "([^"\n]*)"\]([^\[]*)', re.M)
_URL = re.compile(r"^[ \t]*url[ \t]*=[ \t]*(\S+)[ \t]*$", re.M)
_NAME = re.compile(r"[/:\\]([\w.-]+?)(?:\.git)?[/\\]*\Z")


def remote_name(root: str) -> str:
    """Return the name of a repository in the address of its remote; "" if there is none, or for a folder inside one."""
    root = os.path.abspath(root)
    if subprocesses.find_git_top(root) != root:
        return ""
    text = subprocesses.git_configuration(root)
    urls = {str(one[1]): str(url[1]) for one in _REMOTE.finditer(text) if (url := _URL.search(one[2]))}
    name = _NAME.search(urls.get("origin") or next(iter(urls.values()), ""))
    return name[1] if name and name[1] not in (".", "..") else ""
