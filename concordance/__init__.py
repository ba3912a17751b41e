"""Concordance: the documentation of whole repositories.

with concordance.open("src/pytorch") as repository:
    repository.define("torch.nn.Module")
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concordance.api import Repository


def open(repo: str | os.PathLike[str] | None = None, update: bool = True) -> Repository:
    """A repository that answers: each command of `concord` is a method (see `concordance/api.py`)."""
    from concordance.api import Repository

    return Repository(repo, update)
