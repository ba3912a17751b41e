"""Lists the files of a source: a work tree, a plain folder, or a git tree at a revision.

In: the path of a folder. Out: a `ListedFile` for each file, sorted by the bytes of its path, each path once; and the
bytes of a file on request.

In a git work tree, git decides what belongs to it: tracked files, and untracked files that are not ignored. The folder
may lie inside the work tree; paths are relative to the folder, and files outside of it are left out. A tracked file
that does not exist on disk is left out, too.

A plain folder (also one that the git work tree around it ignores completely, or any folder on a machine without git) is
walked completely: only git itself interprets `.gitignore`, so only the folders of version control systems are left out.
Our own `.concordance` is left out everywhere, and so are the pages of a book in another folder.

Links are not followed: a symbolic link is an entry whose note says where it points. A path whose folder was replaced by
a link counts as missing, as it does for git. A path that cannot be accessed is an entry that gives the reason.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from io import FileIO

from concordance.base.confined_folder import NotRegularFile, open_regular_file
from concordance.base.errors import NoPermission, NotARepository, ToolFailed, ToolMissing, UnknownRevision, Unreadable
from concordance.base.model import ListedFile, Skip
from concordance.base.paths import parent_folders
from concordance.collect import own_output, subprocesses

MOST_PATHS = 500  # number of paths above which a complete walk costs about as much
# Files that affect how other files are treated.
DECISIVE_NAMES = frozenset((".gitignore", ".gitmodules", own_output.MANIFEST, own_output.FRONT))
# The listed files, and the number of ignored pages by the folder of their book.
WalkResult = tuple[list[ListedFile], dict[str, int]]
OWN_FOLDER = ".concordance"
CONTROL_FOLDERS = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", OWN_FOLDER})
_NOT_OURS = re.compile(r"(?:^|/)(?:\.\.?|\.git|\.concordance)?(?:/|$)", re.IGNORECASE)
_SHUT_FOLDER = re.compile(r"could not open directory '(.*?)/?': ([^\n]*)", re.DOTALL)
_SPECIAL = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
)
_MAX_INTEGER = (1 << 63) - 1
_GONE = (FileNotFoundError, NotADirectoryError)
_LINK_MODE, _SUBMODULE_MODE = "120000", "160000"


def find_root(start: str) -> str:
    """Return the repository that contains a path: the nearest folder with `.git` or our own folder, or the folder
    itself."""
    start = os.path.realpath(start)
    if not os.path.isdir(start):
        start = os.path.dirname(start)
    return _folder_with(start, (".git", OWN_FOLDER)) or start


def is_in_git(folder: str) -> bool:
    """True if a folder is, or is inside, a git work tree."""
    return bool(_folder_with(folder, (".git",)))


def is_under_version_control(folder: str) -> bool:
    """True if a folder is, or is inside, a work tree of a known version control system."""
    return bool(_folder_with(os.path.realpath(folder), CONTROL_FOLDERS - {OWN_FOLDER}))


def _folder_with(folder: str, names: Iterable[str]) -> str:
    """Return the nearest folder, going up, that contains one of the names; "" if none does."""
    while True:
        if any(os.path.lexists(os.path.join(folder, name)) for name in names):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def walk(root: str) -> list[ListedFile]:
    """Return every file of a work tree or plain folder, except the program's own pages."""
    return walk_with_counts(root)[0]


def walk_with_counts(root: str) -> WalkResult:
    """Return every file of a work tree or plain folder, and the number of ignored pages by the folder of their book."""
    root = require_folder(root)
    entries = None
    if is_in_git(root):
        entries = git_entries(root)
        if not entries and not os.path.lexists(os.path.join(root, ".git")):
            entries = None  # a folder that the repository around it ignores
    if entries is None:
        entries = list(_folder_entries(root))
    entries.sort(key=path_sort_key)
    return _without_own(root, entries)


def _without_own(root: str, entries: list[ListedFile]) -> WalkResult:
    """Return the entries without the pages that the program wrote."""
    paths = [entry.path for entry in entries]
    skipped: set[str] = set()
    counts: dict[str, int] = {}
    for book in own_output.find_books(root, paths):
        excluded = own_output.files_of_book(root, book, paths)
        skipped |= excluded
        counts[book.folder] = sum(path.endswith((".md", own_output.LLMS)) for path in excluded)
    return [entry for entry in entries if entry.path not in skipped], counts


def path_sort_key(entry: ListedFile) -> bytes:
    """Return the sort key of an entry."""
    return os.fsencode(entry.path)


def require_folder(root: str) -> str:
    """Return the real path of the folder, as git sees it; raise UserError if it is not a readable folder."""
    root = os.path.realpath(root)
    try:
        with os.scandir(root) as inside:
            names = {item.name for item in inside}
    except FileNotFoundError as error:
        raise NotARepository(f"{root} does not exist", "Check the path for typos") from error
    except NotADirectoryError as error:
        message, advice = f"{root} is a file", "Name the folder that contains the repository"
        raise NotARepository(message, advice) from error
    except PermissionError as error:
        message, advice = f"no permission to read {root}", "Run as a user who may read it, or change its permissions"
        raise NoPermission(message, advice) from error
    except OSError as error:
        raise NotARepository(f"{root} cannot be read: {error.strerror}", "Check the path") from error
    if {"HEAD", "objects", "refs"} <= names and ".git" not in names:
        message = f"{root} is a bare git repository, without checked-out files"
        raise NotARepository(message, f"Create a work tree first: git clone {root} FOLDER")
    return root


# Plain folders


def _folder_entries(root: str) -> Iterator[ListedFile]:
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(os.path.join(root, folder)) as inside:
                items = list(inside)
        except OSError as error:
            yield _unreadable(folder, error)
            continue
        for item in items:
            path = f"{folder}/{item.name}" if folder else item.name
            if item.name in CONTROL_FOLDERS:
                continue
            try:
                if item.is_dir(follow_symlinks=False):
                    waiting.append(path)
                    continue
                status = item.stat(follow_symlinks=False)
            except OSError as error:
                yield _unreadable(path, error)
                continue
            yield _entry(root, path, status)


def folder_files(root: str) -> Iterator[ListedFile]:
    """Yield the files of a plain folder as they are found."""
    return _folder_entries(root)


def _entry(root: str, path: str, status: os.stat_result) -> ListedFile:
    """Return the entry of anything but a folder."""
    # Some inode numbers, and times after the year 2262, are too large for a database integer.
    modified = max(-_MAX_INTEGER, min(status.st_mtime_ns, _MAX_INTEGER))
    if stat.S_ISREG(status.st_mode):
        inode, altered = status.st_ino & _MAX_INTEGER, min(status.st_ctime_ns, _MAX_INTEGER)
        return ListedFile(path, status.st_size, modified, altered=altered, inode=inode)
    if stat.S_ISLNK(status.st_mode):
        note = link_note(root, path)
        return ListedFile(path, status.st_size, modified, Skip.SYMLINK, note)
    note = next((name for is_such, name in _SPECIAL if is_such(status.st_mode)), "not a regular file")
    return ListedFile(path, 0, modified, Skip.UNREADABLE, note)


def _unreadable(path: str, error: OSError) -> ListedFile:
    return ListedFile(path, 0, 0, Skip.UNREADABLE, error.strerror or str(error))


def link_note(root: str, path: str) -> str:
    """Return where a symbolic link points."""
    path = os.path.join(root, path)
    try:
        target = os.readlink(path)
    except OSError as error:
        return f"its target cannot be read: {error.strerror}"
    inside = root.rstrip("/") + "/"
    # A target outside may exist on one machine and not on another, and a book must not depend on that.
    if not f"{os.path.normpath(os.path.join(os.path.dirname(path), target))}/".startswith(inside):
        return f"points to {target}, outside the repository"
    try:
        # `stat` first: it gives up after a chain of 40 links, whereas `realpath` would follow it to the end.
        os.stat(path)
        real = os.path.realpath(path, strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return f"points to {target}, in a loop"
        if error.errno in (errno.EACCES, errno.EPERM):
            return f"points to {target}, which cannot be accessed"
        return f"points to {target}, which does not exist"
    if f"{real}/".startswith(inside):
        return f"points to {target}"
    return f"points to {target}, outside the repository"


# Git work trees


def git_entries(root: str, only: Iterable[str] = ()) -> list[ListedFile] | None:
    """Return what git lists below a folder, or for the given paths; None if git is missing or finds no repository."""
    listing = ("ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard", "--", *only)
    try:
        with subprocesses.running_git(root, "--literal-pathspecs", *listing) as git:
            listed = git.output.read().split(b"\0")
            complaints = git.end()
    except ToolMissing:
        return None
    except ToolFailed as error:
        # A copied submodule or linked work tree refers to a repository that was not copied.
        if "not a git repository" in error.message:
            return None
        raise
    entries = _work_tree_entries(root, listed)
    top = _folder_with(root, (".git",))  # paths in git's messages are relative to this folder
    for shut, why in dict(_SHUT_FOLDER.findall(complaints)).items():
        path = os.path.relpath(os.path.join(top, shut), root)
        if not _NOT_OURS.search(path):
            entries.append(ListedFile(path, 0, 0, Skip.UNREADABLE, why))
    return entries


def _work_tree_entries(root: str, listed: list[bytes]) -> list[ListedFile]:
    folders: dict[str, bool] = {"": True}
    entries: list[ListedFile] = []
    seen: set[str] = set()  # a merge conflict lists a path three times
    for record in listed[:-1]:
        mode, commit = "", ""
        if record.startswith(b"? "):
            path = os.fsdecode(record[2:])
        else:
            stage, _, name = record.partition(b"\t")
            _, mode, commit, _ = stage.decode("ascii").split(" ")
            path = os.fsdecode(name)
        nested = path.endswith("/")  # an untracked folder that is a repository itself
        path = path.rstrip("/")
        if path in seen or _NOT_OURS.search(path):
            continue
        seen.add(path)
        if mode == _SUBMODULE_MODE:
            entries.append(ListedFile(path, 0, 0, Skip.SUBMODULE, f"at commit {commit}"))
        elif nested:
            entries.append(ListedFile(path, 0, 0, Skip.SUBMODULE, "a git repository that this one does not track"))
        elif (entry := entry_on_disk(root, path, folders)) is not None:
            entries.append(entry)
    return entries


def entry_on_disk(root: str, path: str, folders: dict[str, bool]) -> ListedFile | None:
    """Return the entry of a listed path; None if there is no such file in the work tree.

    `folders` caches which folders are real (`{"": True}` initially).
    """
    folder = path.rpartition("/")[0]
    if folder not in folders:
        _follow(root, folder, folders)
    if not folders[folder]:
        return None
    try:
        status = os.lstat(f"{root}/{path}")
    except _GONE:
        return None
    except OSError as error:
        return _unreadable(path, error)
    return None if stat.S_ISDIR(status.st_mode) else _entry(root, path, status)


def _follow(root: str, folder: str, folders: dict[str, bool]) -> None:
    """Record whether a folder is reached through real folders only, not through a link."""
    above, inside = "", True
    for part in folder.split("/"):
        above = f"{above}/{part}" if above else part
        if above not in folders:
            folders[above] = inside and not os.path.islink(f"{root}/{above}")
        inside = folders[above]


# Git revisions


def tree(root: str, revision: str) -> list[ListedFile]:
    """Return every file below a folder at a git revision; `blobs` reads a file by its `blob`."""
    root = require_folder(root)
    advice = "To list revisions: git log --oneline, git branch --all, git tag"
    try:
        if revision.startswith("-"):  # git would take it for an option
            raise UnknownRevision(f"{revision} is not a git revision", advice)
        listed = b"".join(subprocesses.run_git(root, "ls-tree", "-r", "-z", "-l", revision)).split(b"\0")
    except ToolFailed as error:
        if "not a git repository" in error.message:
            raise NotARepository(f"{root} is not in a git repository", "Name a folder in a git repository") from error
        if "Not a valid object name" in error.message or "not a tree object" in error.message:
            raise UnknownRevision(f"{revision} is not a git revision of {root}", advice) from error
        raise
    entries = [entry for record in listed[:-1] if (entry := _tree_entry(record)) is not None]
    links = [entry for entry in entries if entry.skip is Skip.SYMLINK]
    targets = dict(zip((link.path for link in links), blobs(root, (link.blob for link in links)), strict=True))
    entries = [
        entry._replace(note=f"points to {os.fsdecode(targets[entry.path])}") if entry.path in targets else entry
        for entry in entries
    ]
    entries.sort(key=path_sort_key)
    return entries


def _tree_entry(record: bytes) -> ListedFile | None:
    about, _, name = record.partition(b"\t")
    mode, _, blob, size = about.decode("ascii").split()
    path = os.fsdecode(name)
    if _NOT_OURS.search(path):
        return None
    if mode == _SUBMODULE_MODE:
        return ListedFile(path, 0, 0, Skip.SUBMODULE, f"at commit {blob}")
    if not size.isdigit():
        return ListedFile(path, 0, 0, Skip.UNREADABLE, "git has no content for it in this clone", blob)
    return ListedFile(path, int(size), 0, Skip.SYMLINK if mode == _LINK_MODE else Skip.NONE, "", blob)


# Bytes


def blobs(root: str, ids: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents of git objects, in the order of their ids; raise Unreadable if git lacks one."""
    with subprocesses.running_git(root, "cat-file", "--batch") as git:
        for blob in ids:
            git.say(blob.encode("ascii") + b"\n")
            answer = git.output.readline().split()
            if not answer:
                git.end()
            if len(answer) != 3:
                raise Unreadable(blob, "git has no content for it in this clone")
            size = int(answer[2])
            yield git.output.read(size + 1)[:size]


def read(root: str, entry: ListedFile, max_bytes: int = -1, at_end: bool = False) -> bytes:
    """Return the bytes of a file in a work tree, or its first or last `max_bytes`; raise Unreadable if that fails.

    The path may have become something else since the walk, so no link is followed on the way, and opening a pipe does
    not wait for a writer.
    """
    try:
        with _open(root, entry.path) as file:
            if at_end:
                file.seek(max(0, os.fstat(file.fileno()).st_size - max_bytes))
            return file.read() if max_bytes < 0 else file.read(max_bytes)
    except OSError as error:
        raise Unreadable(entry.path, _reason(error)) from error
    except ValueError as error:  # a NUL character in the path
        raise Unreadable(entry.path, str(error)) from error


def read_in_pieces(root: str, entry: ListedFile, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield the bytes of a file in a work tree piece by piece, for files that are too large for memory."""
    try:
        with _open(root, entry.path) as file:
            while piece := file.read(size):
                yield piece
    except OSError as error:
        raise Unreadable(entry.path, _reason(error)) from error


def _reason(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "now a symbolic link"
    return "no longer a regular file" if isinstance(error, NotRegularFile) else error.strerror or str(error)


def _open(root: str, path: str) -> FileIO:
    """Open a file that is reached through real folders only."""
    folder_flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    *folders, name = path.split("/")
    at = os.open(root, folder_flags)
    try:
        for folder in folders:
            below = os.open(folder, folder_flags | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
        return open_regular_file(name, follow=False, folder=at)
    finally:
        os.close(at)


# ---
# Brings the list of a repository's files up to date where it is known which paths may have changed.
#
# In: the last list, and paths. Out: the list as a walk of the whole would give it, at the cost of those paths alone;
# None if only a walk can tell: a folder appeared or disappeared, git's ignore rules changed, or perhaps a book did.


def update_listing(root: str, entries: list[ListedFile], paths: Collection[str]) -> list[ListedFile] | None:
    """Return the entries, updated at some paths; None if that takes a walk."""
    if len(paths) > MOST_PATHS or any(path.rpartition("/")[2] in DECISIVE_NAMES for path in paths):
        return None
    root = os.path.realpath(root)
    known = {entry.path: entry for entry in entries}
    folders = {"": True}
    strange = []
    # The entry of a link depends on its target, which is another path.
    links = (entry.path for entry in entries if entry.skip is Skip.SYMLINK)
    for path in {*paths, *links}:
        was = known.pop(path, None)
        if _is_folder(root, path) or (was is not None and was.skip is Skip.SUBMODULE):
            return None
        if (now := entry_on_disk(root, path, folders)) is None:
            continue
        if was is not None:
            known[path] = now
        else:
            strange.append(path)
    files_in = {path.rpartition("/")[0] for path in known}
    if not files_in.union(*map(parent_folders, files_in)).isdisjoint(paths):
        return None  # a folder became a file, or is gone
    new = _belonging(root, strange, folders) if strange else []
    return None if new is None else sorted([*known.values(), *new], key=path_sort_key)


def _is_folder(root: str, path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(os.path.join(root, path)).st_mode)
    except OSError:
        return False


def _belonging(root: str, paths: list[str], folders: dict[str, bool]) -> list[ListedFile] | None:
    """Return the entries of new paths that belong to the repository; None if only a walk can tell."""
    if not is_in_git(root):
        return [entry for path in paths if (entry := entry_on_disk(root, path, folders)) is not None]
    # If the folder is not the top of a git work tree, only a walk finds out which rules apply.
    return git_entries(root, paths) if os.path.lexists(os.path.join(root, ".git")) else None
