"""Concordance documents whole repositories. This module is the Python entry point.

    with concordance.open("src/pytorch") as repository:
        repository.define("torch.nn.Module")

Each command of `concord` is a method of the repository.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concordance.api import Repository


def open(repo: str | os.PathLike[str] | None = None, update: bool = True) -> Repository:
    """Open a repository for queries; each `concord` command is a method of the result (see `concordance/api.py`)."""
    from concordance.api import Repository

    return Repository(repo, update)
