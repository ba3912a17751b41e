"""Repositories for tests of the shared cache, and builds that use it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.program import concord

_COMMENT = f"# {'-' * 76}\n" * 48  # text that takes no time to extract


def write_repository(folder: Path, numbers: range) -> Path:
    """Write files; 60 of them are more text than is extracted without asking the cache."""
    folder.mkdir(parents=True)
    for number in numbers:
        lines = (f"def file_{number}_{line}(value: int) -> int:\n    return value + {line}\n" for line in range(4))
        (folder / f"file{number}.py").write_text("\n".join((*lines, _COMMENT)))
    return folder


def build(repo: Path, cache: Path, shared: str, **more: str) -> tuple[dict[str, int], str]:
    """Build a store; return what the build did, and its messages."""
    env = {"CONCORDANCE_CACHE": str(cache), "CONCORDANCE_SHARED_CACHE": shared, **more}
    done = concord("build", repo, "--no-book", "--yes", "--json", "--jobs", "2", env=env)
    return json.loads(done.stdout), done.stderr
