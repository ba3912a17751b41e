"""A repository full of traps: modules, programs, hooks and settings that leave a mark if anything executes them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from tests.support import program

# What Python imports unasked, and what other programs import.
UNASKED = ("sitecustomize", "usercustomize", "conftest", "setup", "__main__", "pip", "pkg_resources", "trap_plugin")
PROGRAMS = ("git", "ruff", "python", "python3", "sh", "uv", "xdg-open", "www-browser", "less", "pager")
HOOKS = ("post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc", "post-checkout", "query-watchman")
RUN_BY_GIT = (
    "core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.askPass", "core.gitProxy",
    "core.alternateRefsCommand", "pager.log", "pager.blame", "pager.ls-files", "pager.config", "diff.external", "diff.trap.textconv",
    "diff.trap.command", "filter.trap.clean", "filter.trap.smudge", "filter.trap.process", "merge.trap.driver",
    "gpg.program", "gpg.ssh.program", "credential.helper", "trailer.x.command", "trailer.x.cmd",
    "uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.receivepack", "interactive.diffFilter",
    "sequence.editor", "browser.x.cmd", "man.x.cmd", "difftool.x.cmd", "submodule.x.update",
)  # fmt: skip
ATTRIBUTES = "* filter=trap diff=trap merge=trap\n"
SETTINGS = {
    "ruff.toml": 'extend = "other.toml"\n',
    ".ruff.toml": "required-version = '==0.0.1'\n",
    "mypy.ini": "[mypy]\nplugins = trap_plugin\n",
    "pytest.ini": "[pytest]\naddopts = -p trap_plugin\n",
    "trap.pth": "import trap_plugin\n",
    "trap-1.dist-info/METADATA": "Name: trap\nVersion: 1\n",
    "trap-1.dist-info/entry_points.txt": "[concordance]\nx = trap_plugin:x\n[concordance.plugins]\nx = trap_plugin:x\n",
    "pyvenv.cfg": "home = .\n",
}
_IMPORTED = re.compile(r"^import '(\w+)[\w.]*' #", re.M)


def imported(log: str) -> set[str]:
    """Return the top-level modules that processes imported, according to their output with PYTHONVERBOSE."""
    return set(_IMPORTED.findall(log))


class Traps:
    """The traps in a repository, and which of them were triggered."""

    def __init__(self, repo: Path, modules: Iterable[str]) -> None:
        self.repo = repo
        self.marks = repo.parent / "marks"
        self.marks.mkdir()
        kept_out = ["/.concordance"]
        for number, name in enumerate(sorted({*modules, *UNASKED})):
            path = f"{name}/__init__.py" if number % 2 and name not in UNASKED else f"{name}.py"
            program.write(repo, {path: f"open({str(self.marks / name)!r}, 'w')\n"})
            kept_out.append(f"/{path.split('/')[0]}")
        for name in PROGRAMS:
            self._script(repo / name)
            self._script(repo / "bin" / name)
            kept_out += [f"/{name}", "/bin/"]
        program.write(repo, SETTINGS)
        self._arm_git(kept_out)

    def _script(self, path: Path) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n: > '{self.marks}/{path.name} at {path.parent.name}'\ncat\n")
        path.chmod(0o755)
        return str(path)

    def _arm_git(self, kept_out: list[str]) -> None:
        """Settings, hooks and attributes by which git would run a program."""
        own = self.repo / ".git"
        lines = ["[log]\nshowSignature = true\n[core]\n"]
        for key in RUN_BY_GIT:
            section, _, name = key.rpartition(".")
            section, _, inner = section.partition(".")
            title = f'[{section} "{inner}"]' if inner else f"[{section}]"
            lines.append(f"{title}\n{name} = {self._script(own / 'run' / key)}\n")
        commands = ("log", "ls-files", "rev-parse", "blame")
        lines += [f"[alias]\n{command} = !{self._script(own / 'run' / command)}\n" for command in commands]
        for hook in HOOKS:
            self._script(own / "hooks" / hook)
            self._script(own / "more" / hook)
        text = "".join(lines) + f"[core]\nhooksPath = {own}/more\nattributesFile = {own}/attributes\n[pager]\nlog = true\n"
        (own / "included").write_text(text)
        with (own / "config").open("a") as file:
            file.write(f"{text}[include]\npath = included\n")
        program.write(own, {"attributes": ATTRIBUTES, "info/attributes": ATTRIBUTES})
        with (own / "info" / "exclude").open("a") as file:
            file.write("".join(f"{line}\n" for line in kept_out))

    def environment(self) -> dict[str, str]:
        """Variables of a user who has the current folder and the repository on the path of programs."""
        path = os.pathsep.join(["", ".", "bin", str(self.repo / "bin"), os.environ["PATH"]])
        return {"PATH": path, "PYTHONPATH": ""}

    def met(self) -> list[str]:
        """Return the traps that were triggered."""
        return sorted(os.listdir(self.marks))
