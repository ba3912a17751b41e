"""`concord pack`: write a repository's store and its cached facts into one file, for another machine."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing, suppress

import click

from concordance.base.blocks import count_noun
from concordance.base.config import cache_folder
from concordance.base.errors import NoPermission, UserError
from concordance.facts.cache import Cache
from concordance.facts.integrity import archive, failures, lock
from concordance.workflow import book_options, store_location
from concordance.workflow.watch import service


@click.command("pack")
@click.argument("file", type=click.Path())
@book_options.REPO
@book_options.with_store
@book_options.YES
def command(file: str, repo: str | None, yes: bool) -> None:
    """Write a repository's store and the cached facts of its files into one compressed file.

    On another machine, in a clone, `concord unpack` reads it.

    \b
    concord pack ../store.concord
    """
    root = store_location.root_of(repo, yes)
    folder = store_location.check_store(root)
    if not store_location.has_store(root):
        raise UserError(f"{root} has no store", "Build it first: concord build")
    if os.path.lexists(file) and not _is_archive(file):
        raise UserError(f"{file} exists, and was not written by `concord pack`", "Name another file")
    config = book_options.read_settings(root).config
    beside = os.path.dirname(os.path.abspath(file))
    try:
        handle, temporary = tempfile.mkstemp(dir=beside, prefix=".concordance-")
        try:
            with (
                os.fdopen(handle, "wb") as target,
                closing(Cache(cache_folder(), config.cache_bytes)) as cache,
                lock.hold_lock(folder, service.log),
            ):
                packed = archive.pack(folder, cache, target)
            os.replace(temporary, file)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        is_full = failures.is_disk_full(error)
        advice = "Free some space, or name a file on another disk" if is_full else "Name another file"
        raise NoPermission(f"{file} cannot be written: {error.strerror}", advice) from error
    what = f"{count_noun(packed.files, 'file')} of the store, facts of {count_noun(packed.facts, 'file')}"
    click.echo(f"{file}: {what}, {os.path.getsize(file) / 1e6:,.1f} MB of {packed.size / 1e6:,.1f} MB")


def _is_archive(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(archive.MAGIC)) == archive.MAGIC
