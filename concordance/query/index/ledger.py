"""The ledger as pages read it: every file's line, what it defines, and how much of it there is.

In: an index. Out: rows by path, made once for a repository and kept: pages of folders ask for the same files again.
"""

from __future__ import annotations

from collections import Counter

from concordance.base.model import File, Skip
from concordance.extract.registry import language_of
from concordance.facts.codec import FileOutline
from concordance.facts.updates.delta import Aspect
from concordance.facts.updates.reads import ANY_UPDATE, memoised, shared_until, unrecorded_copy
from concordance.query.index.repository import Index


class Ledger:
    """All files of a repository, with their numbers of tests."""

    def __init__(self, index: Index) -> None:
        self.files: dict[str, File] = index.files
        # How many tests each file has.
        self.tests: Counter[str] = Counter({path: len(ids) for path, ids in sorted(index.tests_in.items())})
        # Test files of languages whose tests have no names of their own, in which a file counts as a test.
        self.whole_tests = [
            path for path, file in self.files.items()
            if file.lines and language_of(file.language).tests.is_test_file(file.category, path)
        ]  # fmt: skip


@shared_until(ANY_UPDATE)
def ledger(index: Index) -> Ledger:
    """Return the ledger of the repository."""
    return Ledger(index)


def is_empty(file: File) -> bool:
    """True if a file was read and has no content."""
    return file.skip == Skip.NONE and not file.size


@shared_until(ANY_UPDATE)
def identical_files(index: Index) -> dict[str, tuple[str, ...]]:
    """Return each file that has the same content as others, with all of them, sorted; empty files are left out."""
    by_digest: dict[str, list[str]] = {}
    for path, file in sorted(unrecorded_copy(index.files).items()):
        if file.size and file.digest:
            by_digest.setdefault(file.digest, []).append(path)
    return {path: tuple(paths) for paths in by_digest.values() if len(paths) > 1 for path in paths}


def files_identical_to(index: Index, path: str) -> tuple[str, ...]:
    """Return all files with the same content as a file, itself among them; nothing if it has no copies."""
    index.reads.note("copies", path)
    return identical_files(index).get(path, ())


# The index, the page and the chapter of a folder ask for the same files; one may have 100,000 definitions.
@memoised(1 << 17, weigh=lambda outline: 50 + len(outline.symbols))
def outline(index: Index, path: str) -> FileOutline:
    """Return the outline of a file: its symbols in short and the doc comment of the file itself."""
    index.reads.note(Aspect.TEXT, path)
    return index.facts.outline(path)
