"""Looks at a file's name and bytes and says what it is: language, category, encoding, text or binary.

In: the languages that plug-ins know, and each file's path and bytes. Out: a `Form`, and the decoded
text with it, since the encoding is known only by decoding.

A language is told, in this order, by the whole file name, by a glob, by the longest known extension
(and by content, where languages share one), by the same behind a template's suffix (`setup.py.in`),
by the "#!" line, an editor's modeline, and the file's first characters; what is left is plain text.
A plug-in's word comes before the table of other file types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType

from concordance.base.model import Category, Form, Language, Skip
from concordance.collect import binary_types, content, encoding
from concordance.collect.category import Categories
from concordance.collect.file_types import (
    ALIASES,
    CASED_EXTENSIONS,
    OTHERS,
    TEMPLATE_SUFFIXES,
    TEXT,
    UNKNOWN_TEXT,
    FileType,
    from_plugin,
)
from concordance.collect.globs import Globs

_LFS = "version https://git-lfs.github.com/spec/"
_LFS_NOTE = "a pointer: the content itself is in Git's large file storage"
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".h++")
_CPP_SOURCES = (".cpp", ".cc", ".cxx", ".cu", ".mm", ".hpp", ".hh", ".hip")
_UNREAD_TYPES = MappingProxyType(
    {Skip.SYMLINK: "symbolic link", Skip.SUBMODULE: "git submodule", Skip.UNREADABLE: "unreadable file"}
)


def header_language(paths: Iterable[str]) -> str:
    """The language of a repository's `.h` files that say nothing of it: that of most files around."""
    cpp = c = 0
    for path in paths:
        cpp += path.endswith(_CPP_SOURCES)
        c += path.endswith(".c")
    return "cpp" if cpp > c else "c"


def decode(data: bytes, encoding_name: str) -> str:
    """The text of bytes whose encoding is known, without a byte order mark, line ends as they are."""
    return encoding.decode(data, encoding_name)


class Classifier:
    """Everything that is the same for all files of a repository, made once."""

    def __init__(
        self, languages: Sequence[Language], largest: int, headers: str = "c",
        categories: Sequence[tuple[str, str]] = (),
    ) -> None:  # fmt: skip
        """`largest`: bytes of text that are still read; `headers`: the language of a `.h` that tells nothing;
        `categories`: patterns of paths, and what the owners say that those files are for."""
        self.largest = largest
        self._headers = headers
        self._categories = Categories(categories)
        claims = [(from_plugin(one), one.extensions, one.filenames, one.interpreters) for one in languages] + [
            (one, tuple(one.extensions.split()), tuple(one.filenames.split()), tuple(one.interpreters.split()))
            for one in (TEXT, *OTHERS)
        ]
        self._types: dict[str, FileType] = {}
        self._extensions: dict[str, FileType] = {}
        self._interpreters: dict[str, FileType] = {}
        for file_type, extensions, _, interpreters in claims:
            self._types.setdefault(file_type.name, file_type)
            for extension in extensions:
                self._extensions.setdefault(extension, file_type)
            for interpreter in interpreters:
                self._interpreters.setdefault(interpreter, file_type)
        for extension, name in CASED_EXTENSIONS.items():
            if name in self._types:
                self._extensions[extension] = self._types[name]
        self._names = Globs((glob, claim[0]) for claim in claims for glob in claim[2])

    def form(self, path: str, data: bytes, size: int = -1) -> Form:
        """What a file is; `size` is its whole size where `data` is but its beginning."""
        return self.read_text(path, data, size)[0]

    def read_text(self, path: str, data: bytes, size: int = -1) -> tuple[Form, str]:
        """What a file is, and its text; the text is "" where the file is skipped."""
        name = path.rpartition("/")[2]
        file_type, extension, is_template = self._by_name(name)
        size = max(size, len(data))
        found = binary_types.type_of(data, extension)
        if found:
            return self._binary(path, found, data), ""
        too_large = size > self.largest
        text = encoding.read(_whole_lines(data) if too_large else data, file_type is not None)
        if text is None:
            return self._binary(path, binary_types.unknown(extension), data), ""
        head = text.text[: content.LOOK]
        if head.startswith(_LFS) and not too_large:
            category = self._categories.of(path, Category.DATA)
            return Form("text", category, text.encoding, "Git LFS pointer", Skip.NONE, _LFS_NOTE), text.text
        settled = self._settled(file_type, extension, head, text.text)
        top = "" if is_template or "templates/" in path else head  # they speak of the files made from them
        category = self._categories.of(path, settled.kind, top)
        type_name, note = _describe(settled, extension), text.note
        if too_large:
            note = f"{size:,} bytes of text; at most {self.largest:,} are read"
            return Form(settled.name, category, text.encoding, type_name, Skip.TOO_LARGE, note), ""
        return Form(settled.name, category, text.encoding, type_name, Skip.NONE, note), text.text

    def unread(self, path: str, skip: Skip, note: str) -> Form:
        """The form of an entry that is not opened: a link, a submodule, something unreadable."""
        file_type = self._by_name(path.rpartition("/")[2])[0]
        kind = file_type.kind if file_type else Category.SOURCE
        if skip is Skip.SUBMODULE:
            category = self._categories.given(path, is_folder=True) or Category.VENDORED
        else:
            category = self._categories.of(path, kind)
        return Form("", category, "", _UNREAD_TYPES.get(skip, "file"), skip, note)

    def _binary(self, path: str, type_name: str, data: bytes) -> Form:
        category = self._categories.of(path, Category.DATA)
        size = binary_types.pixels(type_name, data)
        return Form("", category, "", type_name, Skip.BINARY, f"{type_name}, {size}" if size else type_name)

    def _by_name(self, name: str) -> tuple[FileType | None, str, bool]:
        """A file's type by its name, the extension that tells, and whether a template's suffix was put off."""
        named = self._names.get(name)
        file_type, extension = self._by_extension(name)
        if named is not None:
            return named, extension, False
        for suffix in TEMPLATE_SUFFIXES:
            if name.endswith(suffix) and len(name) > len(suffix):
                rest, extension_of_rest = self._by_extension(name[: -len(suffix)])
                rest = self._names.get(name[: -len(suffix)]) or rest
                if rest is not None:
                    return rest, extension_of_rest, True
        return file_type, extension, False

    def _by_extension(self, name: str) -> tuple[FileType | None, str]:
        at = name.find(".", 1)
        while at > 0:
            for extension in (name[at:], name[at:].lower()):
                if extension in self._extensions:
                    return self._extensions[extension], extension
            at = name.find(".", at + 1)
        return None, name[name.rfind(".", 1) :].lower() if "." in name[1:] else ""

    def _settled(self, file_type: FileType | None, extension: str, head: str, text: str) -> FileType:
        """A file's type once its content was looked at."""
        if file_type is None:
            return self._by_content(head, text)
        told = ""
        if extension == ".h":
            told = content.header(head, self._headers)
        elif extension in content.AMBIGUOUS:
            told = content.among(extension, head)
        return self._types.get(told, file_type)

    def _by_content(self, head: str, text: str) -> FileType:
        if head.startswith("#!"):
            for name in content.interpreter(head):
                if name in self._interpreters:
                    return self._interpreters[name]
        name = content.modeline(text)
        file_type = self._types.get(ALIASES.get(name, name)) if name else None
        return file_type or self._types.get(content.opening(head)) or UNKNOWN_TEXT


def _whole_lines(data: bytes) -> bytes:
    """The beginning of a file that is not read whole, cut where no character is torn."""
    head = data[: encoding.LOOK]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):  # UTF-16, whose line end is not one byte
        return head
    return head[: head.rfind(b"\n") + 1] or head.rstrip(bytes(range(128, 256)))


def _describe(file_type: FileType, extension: str) -> str:
    title = file_type.title
    if extension in _HEADERS and file_type.kind is Category.SOURCE:
        return f"{title} header"
    last = title.rpartition(" ")[2]
    if title.endswith("file") or (last != title and last.islower()):
        return title
    if file_type.kind is Category.SOURCE:
        return f"{title} source"
    return f"{title} document" if file_type.kind is Category.DOCUMENTATION else f"{title} file"
