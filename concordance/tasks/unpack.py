"""`concord unpack`: replace a repository's store by one that `concord pack` wrote."""

from __future__ import annotations

import os
import shutil
from contextlib import closing, suppress

import click

from concordance.base.blocks import count_noun
from concordance.base.config import cache_folder
from concordance.base.confined_folder import open_regular_file
from concordance.base.errors import NoPermission, StoreBroken, ToolFailed, UserError
from concordance.base.model import Category, ListedFile
from concordance.collect import revisions
from concordance.collect.walk import walk
from concordance.facts.cache import Cache
from concordance.facts.integrity import archive, lock
from concordance.facts.read import Facts
from concordance.workflow import book_options, store_location
from concordance.workflow.stages.extract import has_digest
from concordance.workflow.watch import service
from concordance.workflow.workers import temp_folder

_COMMON = 20  # one in so many source files of a repository is the same in an older or newer state of it


@click.command("unpack")
@click.argument("file", type=click.Path())
@book_options.REPO
@book_options.with_store
@book_options.YES
def command(file: str, repo: str | None, yes: bool) -> None:
    """Replace a repository's store with the one in a file that `concord pack` wrote, and add its facts to the cache.

    The file is checked completely before the store is touched, and refused if it was packed in another repository. The
    next build reads only what differs.

    \b
    concord unpack ../store.concord
    """
    root = store_location.root_of(repo, yes)
    config = book_options.read_settings(root).config
    try:
        with open_regular_file(file) as source:
            folder = store_location.make_store(root)
            with lock.hold_lock(folder, service.log), temp_folder.folder(folder) as temporary:
                files = os.path.join(temporary, "files")
                os.mkdir(files)
                with closing(Cache(temporary, config.cache_bytes)) as facts:
                    unpacked = archive.unpack(source, files, facts)
                    if not _is_of_repository(files, root):
                        advice = "Pack the store of this repository, name another one with --repo, or: concord build"
                        raise UserError(f"{file} is the store of another repository than {root}", advice)
                    with closing(Cache(cache_folder(), config.cache_bytes)) as cache:
                        cache.put(row for row in facts.items() if not cache.has(row[0]))
                        cache.trim()
                _replace_store(folder, files)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not os.path.lexists(file):
            raise UserError(f"{file} does not exist", "Name a file that `concord pack` wrote") from error
        reason = error.strerror or str(error)
        raise NoPermission(f"{file} cannot be unpacked: {reason}", "Check the file and the disk") from error
    what = f"{count_noun(unpacked.files, 'file')} of the store, facts of {count_noun(unpacked.facts, 'file')}"
    click.echo(f"{folder}: {what}, {unpacked.size / 1e6:,.1f} MB")


def _is_of_repository(files: str, root: str) -> bool:
    """True if an unpacked store is that of another clone or of another state of a repository: its commit is known here,
    or source files have the same content. Not by paths: `src/lib.rs` and `docs/conf.py` are in many repositories."""
    try:
        with Facts(files, alone=True) as facts:
            head, packed = facts.meta().get("head", ""), [file for file in facts.files() if file.size and file.digest]
    except StoreBroken as error:
        raise archive.ArchiveRefused(
            f"The store in the file cannot be read: {error.message}", "Pack it again"
        ) from error
    if head:
        with suppress(ToolFailed, UserError):
            return bool(revisions.resolve_commit(root, head))
    here = {entry.path for entry in walk(root)}
    packed = [file for file in packed if file.category == Category.SOURCE] or packed
    same = sum(file.path in here and has_digest(root, ListedFile(file.path, 0, 0), file.digest) for file in packed)
    return _COMMON * same >= min(len(packed), len(here)) and (same > 0 or not packed)


def _replace_store(folder: str, files: str) -> None:
    """Move the files of a store into place, the database last: a store without one is built anew."""
    for name in os.listdir(folder):
        if name.startswith(("index.db", "pages-")):
            os.unlink(os.path.join(folder, name))
    text = os.path.join(folder, "text")
    if os.path.isdir(text) and not os.path.islink(text):
        shutil.rmtree(text)
    elif os.path.lexists(text):
        os.unlink(text)
    names = {path.partition("/")[0] for path in archive.store_files(files)}
    for name in sorted(names, key=lambda name: name == "index.db"):
        os.rename(os.path.join(files, name), os.path.join(folder, name))
