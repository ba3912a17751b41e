"""The section of `AGENTS.md` that the program keeps: written between two marks, everything else is left as it is.

In: an index, and the bytes of the file. Out: the bytes with the current section in place of the old one, or appended if
there is none. A file whose marks are incomplete is refused: what belongs to the section cannot be told.
"""

from __future__ import annotations

from contextlib import closing

from concordance.base.blocks import Ref, To
from concordance.base.confined_folder import ConfinedFolder, NotRegularFile
from concordance.base.errors import NoPermission, UserError
from concordance.query.folders.agent_guide import agent_guide
from concordance.query.index.repository import Index
from concordance.render.addresses import Addresses, slug
from concordance.render.formats import markdown

FILE = "AGENTS.md"
BEGIN = "<!-- concordance: begin (written by `concord init --agents`; changes in this section are lost) -->"
END = "<!-- concordance: end -->"
_BEGIN_START = "<!-- concordance: begin"  # the rest of the mark may have changed since it was written


class _SourceAddresses(Addresses):
    """Addresses for a file at the root of the repository: links to pages lead to what the pages are about."""

    def link(self, page: str, ref: Ref) -> str:
        address = self.to("", ref.path)
        return f"{address}#{slug(ref.at)}" if ref.at and ref.to == To.FILE else address


def render_section(index: Index) -> str:
    """Return the section with its marks; each line ends with a newline."""
    addresses = _SourceAddresses([row[1] for row in index.file_rows], index.root, index.root)
    return f"{BEGIN}\n{markdown.render_blocks(agent_guide(index), addresses, FILE)}\n{END}\n"


def write_section(root: str, section: str) -> bool:
    """Write the section into the repository's file; False if it already has it."""
    with closing(ConfinedFolder(root, (root,))) as folder:
        try:
            before = folder.read(FILE)
        except FileNotFoundError:
            before = b""
        except NotRegularFile as error:
            advice = "Replace it with a file, or write the section by hand"
            raise UserError(f"{FILE} in {root} is a link or not a regular file", advice) from error
        after = replace_section(before, section)
        if after == before:
            return False
        try:
            folder.write(f".{FILE}.new", FILE, after)
        except OSError as error:
            raise NoPermission(f"{FILE} in {root} cannot be written: {error.strerror}", "Check permissions") from error
    return True


def replace_section(before: bytes, section: str) -> bytes:
    """Return a file's bytes with the section in place of the old one, or appended."""
    try:
        text = before.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{FILE} is not valid UTF-8", "Convert it first") from error
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    begins = [number for number, line in enumerate(lines) if line.startswith(_BEGIN_START)]
    ends = [number for number, line in enumerate(lines) if line.startswith(END)]
    own = [line + ending for line in section.splitlines()]
    if not begins and not ends:
        gap = [] if not text else [ending] if text.endswith("\n") else [ending, ending]
        return "".join((*lines, *gap, *own)).encode()
    if len(begins) != 1 or len(ends) != 1 or ends < begins:
        numbers = ", ".join(str(number + 1) for number in sorted(begins + ends))
        advice = f"Leave one line `{_BEGIN_START} -->` and after it one line `{END}`, or remove them all"
        raise UserError(f"the markers of the section in {FILE} are incomplete (lines {numbers})", advice)
    return "".join((*lines[: begins[0]], *own, *lines[ends[0] + 1 :])).encode()
