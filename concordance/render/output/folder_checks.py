"""Checks that a book or a site may be written into a folder.

In: the requested folder. Out: nothing, or a `UserError` that says what to do instead. A mistyped `--out` must not fill
a folder of documents with thousands of pages, so a folder that holds anything the program did not write is refused as a
whole, and not only if a page would overwrite a file. A folder is ours if its manifest says so, or if its front page
ends the way our pages do, since git may ignore the manifest and a crash may have emptied it. Files that users add later
beside our pages stay there and do not cause a refusal.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from contextlib import closing

from concordance.base.confined_folder import ConfinedFolder, LinkRefused
from concordance.base.errors import NoPermission, UserError
from concordance.base.version import VERSION
from concordance.collect import own_output
from concordance.collect.own_output import CLAIMS, FRONTS, GENERATOR, MANIFEST, SIGN

# How a site's manifest begins.
_SITE_SIGN = json.dumps({"generator": GENERATOR, "version": VERSION, "site": True}, indent=1)[:-2].encode()
_BEGINNING = 200  # bytes at the start of a manifest that identify it
# Names that a folder may contain and still count as empty: files that git or a publisher needs, and leftovers of a
# killed run.
_IGNORED = frozenset((".git", ".gitattributes", ".gitignore", ".gitkeep", ".nojekyll", CLAIMS))
_NAMED = 3  # how many files the message lists


def check(out: str, controlled: Iterable[str], site: bool) -> None:
    """Raise if a folder is reached through a link, contains files of others, or is inside git's own folder."""
    if ".git" in os.path.abspath(out).split(os.sep):
        raise UserError(f"{out} is inside git's own folder", "Name another folder (--out)")
    with closing(ConfinedFolder(out, controlled)) as folder:
        try:
            names = sorted(set(folder.names()) - _IGNORED)
        except FileNotFoundError:
            return
        except OSError as error:
            advice = "Name a folder that you may read and write (--out)"
            raise NoPermission(f"{out} cannot be read: {error.strerror}", advice) from error
        if not names:
            return
        if MANIFEST in names and not stat.S_ISREG(folder.lstat(MANIFEST).st_mode):
            manifest_path = os.path.join(out, MANIFEST)
            raise UserError(f"{manifest_path} is not a regular file", "Remove it, or write elsewhere (--out)")
        beginning = _read(folder, MANIFEST, _BEGINNING)
        if MANIFEST in names and not beginning.strip(b"\0"):
            return  # a power cut can leave a file empty, or full of zeros
        has_front = any(own_output.is_own_content(_read(folder, name)) for name in FRONTS)
        # A sound manifest says whether this is a book or a site; without one, look for the front page of a site.
        is_site = _is_of_site(beginning) if own_output.is_manifest(beginning) else "index.html" in names
        if has_front or (beginning and (_is_of_book(beginning) or _is_of_site(beginning))):
            if is_site == site:
                return
            there, here = ("site", "book in Markdown") if is_site else ("book in Markdown", "site")
            advice = "Name another folder (--out), or remove this one first"
            raise UserError(f"{out} contains a {there}, so a {here} cannot be written there", advice)
    some = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
    advice = "Name a folder that is new, empty, or an earlier book of Concordance: for example --out "
    raise UserError(
        f"{out} contains files that Concordance did not write ({some}), so nothing is written there",
        f"{advice}{out.rstrip('/')}/{'site' if site else 'book'}",
    )


def _is_of_site(beginning: bytes) -> bool:
    """True if the beginning of a manifest is that of a site; some of its bytes may be damaged."""
    exact = own_output.is_manifest(beginning) and b'"site": true' in beginning[:_BEGINNING]
    return exact or own_output.resembles_signature(beginning, _SITE_SIGN)


def _is_of_book(beginning: bytes) -> bool:
    return own_output.is_manifest(beginning) or own_output.resembles_signature(beginning, SIGN)


def _read(folder: ConfinedFolder, name: str, most: int = 0) -> bytes:
    try:
        return folder.read(name, most)
    except (OSError, LinkRefused):
        return b""
