"""The two sides of a comparison: revisions of a repository or the work tree, as lists of files with git's ids.

In: revisions as people type them: none (HEAD and the work tree), one (that and the work tree), two, `A..B`, or `A...B`
(from the merge base of the two to B). Out: two `Side`s. Nothing is checked out.

The id of a file in the work tree is taken from git's index if time and size are those of the index; otherwise its bytes
are hashed. Git is not asked to compare, because it would run the filters that a repository's settings name.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import NamedTuple

from concordance.base.config import Config
from concordance.base.errors import NotARepository, ToolFailed, ToolMissing, UnknownRevision, Unreadable, UserError
from concordance.base.model import ListedFile, Skip
from concordance.collect import own_output, path_patterns, subprocesses, walk

WORK_TREE = "the work tree"
# One file of `git ls-files --stage --debug`: id and status as git last saw them
_INDEXED = re.compile(
    rb"(\d+) ([0-9a-f]+) (\d)\t([^\0]+)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n.*\n.*\n  size: (\d+)\t.*\n"
)
_ADVICE = "To list revisions: git log --oneline, git branch --all, git tag"


class Side(NamedTuple):
    """One side of a comparison."""

    name: str  # as requested
    commit: str  # "" for the work tree
    entries: dict[str, ListedFile]  # by path; `blob` is git's id of the content


class Blobs:
    """Reads contents of git objects one at a time, through one git process that keeps running."""

    def __init__(self, root: str) -> None:
        self._program = subprocesses.running_git(root, "cat-file", "--batch")
        self._git = self._program.__enter__()

    def get(self, blob: str) -> bytes:
        """Return the content of an id; raise Unreadable if git lacks it."""
        self._git.say(blob.encode("ascii") + b"\n")
        answer = self._git.output.readline().split()
        if len(answer) != 3:
            raise Unreadable(blob, "git has no content for it in this clone")
        size = int(answer[2])
        return self._git.output.read(size + 1)[:size]

    def close(self) -> None:
        """End the process."""
        self._program.__exit__(None, None, None)


def sides(root: str, revisions: Sequence[str], config: Config) -> tuple[Side, Side, Side]:
    """Return the two sides to compare, and the work tree, without the files that the settings leave out."""
    first, second = commits(root, revisions)
    here = Side(WORK_TREE, "", _work_tree(root, config))
    one, other = (_side(root, name, commit, config) if commit else here for name, commit in (first, second))
    return one, other, here


def commits(root: str, revisions: Sequence[str]) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return both names with their commits, "" for the work tree; raise UserError if a revision does not exist."""
    _check(root)
    if len(revisions) > 2:
        raise UserError(f"{len(revisions)} revisions were named", "Name at most two, or one as A..B or A...B")
    if len(revisions) == 1 and ".." in revisions[0]:
        parts = re.fullmatch(r"(.*?)(\.{2,3})(.*)", revisions[0], re.S)
        assert parts is not None  # noqa: S101 - it has two dots
        old, dots, new = parts[1] or "HEAD", parts[2], parts[3] or "HEAD"
        ends = resolve_commit(root, old), resolve_commit(root, new)
        if dots == "..":
            return (old, ends[0]), (new, ends[1])
        return (f"the merge base of {old} and {new}", _merge_base(root, (old, new), ends)), (new, ends[1])
    pair = [(revision, resolve_commit(root, revision)) for revision in revisions or ("HEAD",)]
    return pair[0], (pair[1] if len(pair) > 1 else (WORK_TREE, ""))


def _check(root: str) -> None:
    advice = "A diff needs git: run `git init` and commit, or name a git repository with --repo"
    if not os.path.isdir(root):
        raise NotARepository(f"{root} is not a folder", "Check the path for typos")
    try:
        _git_output(root, "rev-parse", "--git-dir")
    except ToolMissing as error:
        raise UserError("git is not installed, and a diff needs it", "Install git") from error
    except ToolFailed as error:
        if "not a git repository" not in error.message:
            raise
        raise NotARepository(f"{root} is not in a git repository", advice) from error


def resolve_commit(root: str, name: str) -> str:
    """Return the commit of a revision."""
    wanted = name.strip()
    if not wanted or wanted.startswith("-") or "\0" in wanted or "\n" in wanted:
        raise UnknownRevision(f"{name!r} is not a git revision", _ADVICE)
    with suppress(ToolFailed):
        return _git_output(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
    raise _unknown(root, name)


def _unknown(root: str, name: str) -> UnknownRevision:
    """Return an error that says what is wrong with an unknown revision, and what may have been meant."""
    if name == "HEAD":
        return UnknownRevision("the repository has no commit yet", "Commit something to compare with")
    if os.path.lexists(os.path.join(root, name)):
        return UnknownRevision(f"{name} is a path, not a revision", "Name a commit, branch or tag")
    refs = _git_output(root, "for-each-ref", "--format=%(refname:short)").splitlines()
    near = difflib.get_close_matches(name, refs, 3, 0.6)
    shallow = _git_output(root, "rev-parse", "--is-shallow-repository") == "true"
    advice = f"Nearest: {', '.join(near)}" if near else _ADVICE
    if shallow:
        advice = f"{advice}. This clone is shallow: `git fetch --unshallow --tags` fetches the rest"
    return UnknownRevision(f"{name} is not a git revision of {root}", advice)


def _merge_base(root: str, names: tuple[str, str], commits: tuple[str, str]) -> str:
    try:
        return _git_output(root, "merge-base", *commits)
    except ToolFailed as error:
        advice = f"Compare them as they are: concord diff {names[0]} {names[1]}"
        if _git_output(root, "rev-parse", "--is-shallow-repository") == "true":
            advice += ", or fetch what this shallow clone lacks: git fetch --unshallow"
        raise UserError(f"{names[0]} and {names[1]} have no common ancestor here", advice) from error


def _git_output(root: str, *args: str) -> str:
    return os.fsdecode(b"".join(subprocesses.run_git(root, *args))).strip()


# --- files


def _side(root: str, name: str, commit: str, config: Config) -> Side:
    try:
        entries = {entry.path: entry for entry in walk.tree(root, commit)}
    except ToolFailed as error:
        if "promisor" not in error.message:
            raise
        advice = f"Check {name} out once, which fetches it, or make a full clone of the repository"
        raise UserError(f"this partial clone lacks contents of {name}", advice) from error
    marks = [path for path in entries if path.rpartition("/")[2] == own_output.MANIFEST]
    with closing(Blobs(root)) as blobs:
        for path in marks:
            entry = entries.get(path)
            if entry is None or not entry.blob or entry.skip is not Skip.NONE:
                continue
            with suppress(Unreadable):
                book = own_output.parse_manifest(path.rpartition("/")[0], blobs.get(entry.blob))
                for page in own_output.files_of_book(root, book, entries) if book is not None else ():
                    del entries[page]
    kept, _ = path_patterns.select_entries(list(entries.values()), config)
    return Side(name, commit, {entry.path: entry for entry in kept})


def _work_tree(root: str, config: Config) -> dict[str, ListedFile]:
    """Return the files of the work tree, with the ids that their contents have, or would have, in git."""
    entries, _ = path_patterns.select_entries(walk.walk(root), config)
    known, kind = _index(root)
    files = {}
    for entry in entries:
        files[entry.path] = entry
        if entry.skip is Skip.NONE:
            files[entry.path] = entry._replace(blob=_blob(root, entry, known.get(entry.path), kind))
        elif entry.skip is Skip.SYMLINK:
            files[entry.path] = entry._replace(note=_plain_target(entry.note))
    return files


def _plain_target(note: str) -> str:
    """Return where a link points in the words of a revision, which does not know what is there."""
    for ending in (", outside the repository", ", in a loop", ", which does not exist", ", which cannot be accessed"):
        note = note.removesuffix(ending)
    return note


class _Indexed(NamedTuple):
    blob: str
    size: int
    changed: int  # -1 if the file may have been written again after git read it
    altered: int


def _index(root: str) -> tuple[dict[str, _Indexed], str]:
    """Return git's index by path, and the hash algorithm of git's ids."""
    known: dict[str, _Indexed] = {}
    listing = b"".join(subprocesses.run_git(root, "ls-files", "-z", "--stage", "--debug"))
    index_path = _git_output(root, "rev-parse", "--git-path", "index")
    written = 0
    with suppress(OSError):
        written = os.stat(os.path.join(root, index_path)).st_mtime_ns
    length = 40
    for _, blob, stage, name, *times, size in _INDEXED.findall(listing):
        altered, changed = (int(times[at]) * 1_000_000_000 + int(times[at + 1]) for at in (0, 2))
        length = len(blob)
        if stage == b"0":
            settled = changed if changed < written else -1
            known[os.fsdecode(name)] = _Indexed(blob.decode("ascii"), int(size), settled, altered)
    return known, "sha256" if length == 64 else "sha1"


def _blob(root: str, entry: ListedFile, blobs: _Indexed | None, kind: str) -> str:
    """Return the id of a file's content."""
    if blobs is not None and blobs[1:] == (entry.size, entry.changed, entry.altered):
        return blobs.blob
    try:
        data = b"".join(walk.read_in_pieces(root, entry)) if entry.size > 1 << 20 else walk.read(root, entry)
    except Unreadable:
        return ""
    identity = _hash_files(data, kind)
    if (
        blobs is not None and identity != blobs.blob and b"\r\n" in data
    ):  # git may have changed the line ends at checkout
        plain = _hash_files(data.replace(b"\r\n", b"\n"), kind)
        identity = plain if plain == blobs.blob else identity
    return identity


def _hash_files(data: bytes, kind: str) -> str:
    return hashlib.new(kind, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def differing_files(one: Side, other: Side) -> Iterator[tuple[ListedFile | None, ListedFile | None]]:
    """Yield the files that differ between the sides, in path order."""
    for path in sorted(one.entries.keys() | other.entries.keys(), key=os.fsencode):
        before, after = one.entries.get(path), other.entries.get(path)
        if before is None or after is None or not is_same(before, after):
            yield before, after


def is_same(one: ListedFile, other: ListedFile) -> bool:
    """True if two files of the same path have the same content."""
    if one.skip != other.skip:
        return False
    if one.skip in (Skip.SYMLINK, Skip.SUBMODULE):
        return one.note == other.note
    return one.blob == other.blob and bool(one.blob)
