"""reStructuredText: sections, labels, directives, and the code that the prose mentions.

In: a file. Out:

- a heading for each section title; levels follow the order in which the adornments first appear
- a label for each `.. _name:`
- a declaration for each directive that documents a symbol (`.. function::`)
- an import for each reference to another file or module (`automodule`, `currentmodule`, `toctree`, `include`,
  `image`, `:doc:`); its form is the name of the directive or role, and names given to `autodoc` are combined with the
  current module
- a mention for each role that names code (``:class:`~torch.nn.Module` ``) or a label, and for each name in a literal

The content of code directives, literal blocks and comments is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

from concordance.base.model import Category, DocMarkup, Kind, Language, Role
from concordance.extract.documents.prose import (
    ByteOffsets,
    DocumentHeading,
    add_headings,
    byte_length,
    code_names,
    is_relative,
    opening_paragraph,
)
from concordance.extract.reading.draft import Draft
from concordance.extract.text.source_text import Source

LANGUAGE = Language(
    "rst",
    "reStructuredText",
    unseen="file patterns, links made by extensions",
    extensions=(".rst", ".rest"),
    category=Category.DOCUMENTATION,
    is_markup=True,
    doc_markup=DocMarkup.REST,
)

_LINE_END = re.compile(r"\r\n|\r|\n")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*$")
_DIRECTIVE = re.compile(r"\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w:.+-]*?)[ \t]*::(?:[ \t]+|$)")
_TARGET = re.compile(r"\.\.[ \t]+_(?!_)(?:`([^`]+)`|((?:[^:\\\n]|\\.|:(?!\s|$))+)):(?:[ \t]+(\S.*))?[ \t]*$")
_EXPLICIT = re.compile(r"\.\.(?:\s|$)")
_OTHER_MARKUP = re.compile(r"\.\.[ \t]+(?:\[[^\]]+\][ \t]|__:|\|)")
_BULLET = re.compile(r"(?:[-*+•]|\(?(?:\d+|#|[A-Za-z])[.)])[ \t]+")
_OPTION = re.compile(r":([\w-]+):[ \t]*(.*)")
_LINK_TARGET = re.compile(r"<([^<>`]+)>\s*$")
_SPAN = (
    r"(?P<role>(?::[A-Za-z][\w.+-]*+)++)(?::`(?P<text>[^`]+)`)?|"
    r"(?<![\w:`])`(?P<quoted>[^`\s](?:[^`]*[^`\s])?)`(?P<link>__?)?"
)
_INLINE = re.compile(rf"``(?P<literal>[^`](?:.*?[^`\s])?)``|{_SPAN}", re.S)
_SHORT_LITERALS = re.compile(rf"``(?P<literal>[^`])``|{_SPAN}", re.S)
_TITLE = r"(\s*+(?:[^`<>\s]++(?:\s++[^`<>\s]++)*+(?:\s++(?=`))?|(?<=\s)(?=`)))\s*+"
_MARKUP = re.compile(
    rf"``(.+?)``|(?::[\w.+-]++)++:`~?(?:{_TITLE}<[^`<>]*>|([^`]+))`|`{_TITLE}(?:<[^`<>]*>)?`_{{0,2}}|\\(\W)|"
    r"(?<!\w)\*\*?(\S|\S.*?\S)\*\*?(?!\w)|\|([^|]+)\|_?"
)
# The search for pairs of delimiters takes time in proportion to the length of the text times the number of unclosed
# delimiters, so both are limited.
_LONGEST = 5_000  # characters of a title or first paragraph
_MOST_SIGNS = 200  # delimiters in such a text that may open markup
_OPENING_SIGN = re.compile(r"(?<!\w)\*|`|:[\w.+-]")
_SIGNATURE_NAME = re.compile(r"(?:[\w:<>*&~,\s]*?\s)?([A-Za-z_]\w*+(?:(?:\.|::)~?\w++)*+)\s*(?:[(\[{=:].*)?$", re.S)

_CODE = frozenset(
    (
        "code-block",
        "code",
        "sourcecode",
        "testcode",
        "testoutput",
        "testsetup",
        "testcleanup",
        "doctest",
        "math",
        "raw",
        "parsed-literal",
        "graphviz",
        "digraph",
        "graph",
        "productionlist",
        "prompt",
        "mermaid",
        "highlight",
        "ipython",
    )
)
_INCLUDING = frozenset(("include", "literalinclude", "image", "figure"))
_LISTED = frozenset(("toctree", "autosummary"))
_DOCUMENTED = {
    "function": Kind.FUNCTION, "decorator": Kind.FUNCTION, "class": Kind.CLASS, "exception": Kind.CLASS,
    "method": Kind.METHOD, "classmethod": Kind.METHOD, "staticmethod": Kind.METHOD, "decoratormethod": Kind.METHOD,
    "property": Kind.PROPERTY, "attribute": Kind.FIELD, "member": Kind.FIELD, "data": Kind.VARIABLE,
    "var": Kind.VARIABLE, "envvar": Kind.VARIABLE, "macro": Kind.MACRO, "type": Kind.TYPE, "struct": Kind.STRUCT,
    "union": Kind.UNION, "enum": Kind.ENUM, "enum-class": Kind.ENUM, "enumerator": Kind.ENUMERATOR,
    "concept": Kind.TYPE, "namespace": Kind.NAMESPACE, "module": Kind.MODULE,
}  # fmt: skip
_DOMAINS = frozenset(("py", "c", "cpp", "js", ""))
_CODE_ROLES = frozenset(
    (
        "class",
        "func",
        "meth",
        "attr",
        "mod",
        "obj",
        "data",
        "exc",
        "const",
        "any",
        "member",
        "macro",
        "type",
        "struct",
        "enum",
        "enumerator",
        "var",
        "envvar",
        "union",
        "deco",
        "ref",
        "numref",
        "keyword",
        "function",
        "method",
    )
)
_FILE_ROLES = frozenset(("doc", "download"))
_LITERAL_ROLES = frozenset(("code", "literal", "file", "program", "command"))


def read(source: Source) -> Draft:
    """Parse one reStructuredText file into a `Draft`."""
    return _Reader(source).read()


def strip_markup(text: str) -> str:
    """Return inline text without its markup."""
    if len(text) > _LONGEST or sum(1 for _ in _OPENING_SIGN.finditer(text)) > _MOST_SIGNS:
        return " ".join(text.split())
    bare = _MARKUP.sub(lambda m: next((group for group in m.groups() if group is not None), ""), text)
    return " ".join(bare.split())


def _spans(text: str) -> Iterator[re.Match[str]]:
    """Yield the roles, literals and quoted spans of a text.

    After the last place at which a literal can end, only literals of one character are searched: otherwise each "``"
    there would scan to the end of the text.
    """
    end = text.rfind("``")
    while end > 0 and (text[end - 1] == "`" or text[end - 1].isspace()):
        end = text.rfind("``", 0, end + 1)
    reached = 0
    for match in _INLINE.finditer(text, 0, end + 2 if end > 0 else 0):
        yield match
        reached = match.end()
    yield from _SHORT_LITERALS.finditer(text, reached)


def _columns(text: str) -> int:
    """Return the display width of a title; a character of a wide script takes two columns."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(sign) in "WF") for sign in text)


class _Reader:
    """Reads a file line by line; `at` is the index of the next line."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.draft = Draft(source)
        self.lines = [line.rstrip() for line in _LINE_END.split(source.text.expandtabs(8))]
        self.raw = _LINE_END.split(source.text)
        self.indents = [len(line) - len(line.lstrip()) if line else -1 for line in self.lines]
        self.at = 0
        self.headings: list[DocumentHeading] = []
        self.styles: list[str] = []
        self.module = ""
        self.paragraphs: list[str] = []

    def read(self) -> Draft:
        """Read the whole file and return its draft."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line:
                self.at += 1
            elif not self._title():
                bare = line[self.indents[self.at] :]
                if bare.startswith("..") and _EXPLICIT.match(bare):
                    self._explicit(bare)
                elif bare.startswith(">>> "):
                    while self.at < len(self.lines) and self.lines[self.at]:
                        self.at += 1
                else:
                    self._paragraph()
        add_headings(self.draft, self.headings)
        self.draft.doc = opening_paragraph(map(strip_markup, self.paragraphs))
        return self.draft

    # Sections and paragraphs.

    def _title(self) -> bool:
        """Read the section title or transition that starts here; return False if there is none."""
        at, lines = self.at, self.lines
        line = lines[at]
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if _EXPLICIT.match(line):
            return False
        if self.indents[at] == 0 and _ADORNMENT.match(line):
            below = lines[at + 2] if at + 2 < len(lines) else ""
            if following and below == line and not _ADORNMENT.match(following):
                self._add_title(at + 1, at, line[0] * 2)
                self.at = at + 3
                return True
            if len(line) < 4 or following:
                return False
            self.at += 1  # a transition: a line of adornment on its own
            return True
        if self.indents[at] != 0 or not following or not _ADORNMENT.match(following):
            return False
        if len(following) < min(4, _columns(line)):
            return False
        self._add_title(at, at, following[0])
        self.at = at + 2
        return True

    def _add_title(self, at: int, first: int, style: str) -> None:
        if style not in self.styles:
            self.styles.append(style)
        text = self.lines[at].strip()
        start = self.source.line_bytes[first]
        name = strip_markup(text) or text
        self.headings.append(DocumentHeading(self.styles.index(style) + 1, name, text, self._offset(at, text), start))
        self.draft.prose.append((at + 1, name))
        self._inline(at, at + 1)

    def _paragraph(self) -> None:
        """Read a paragraph, and skip the literal block that it may announce."""
        first, lines, indents = self.at, self.lines, self.indents
        indent = indents[first]
        while self.at < len(lines) and lines[self.at] and indents[self.at] == indent:
            bare = lines[self.at][indent:]
            listed = _BULLET.match(bare) is not None
            if listed and self.at > first and _BULLET.match(lines[first][indent:]):
                break
            self.at += 1
            if listed and self.at < len(lines) and indents[self.at] > indent:
                break  # the following lines are the item's own text
        text = "\n".join(lines[first : self.at])
        self.draft.prose.append((first + 1, text))
        if indent == 0 and not self.paragraphs and not _OPTION.match(text) and not _BULLET.match(text):
            self.paragraphs.append(text.removesuffix("::"))
        self._inline(first, self.at)
        if text.endswith("::"):
            self._skip_block(indent)

    def _skip_block(self, indent: int) -> int:
        """Skip blank lines and lines indented deeper than `indent`; return the line after the last indented one."""
        end = self.at
        while self.at < len(self.lines) and (self.indents[self.at] < 0 or self.indents[self.at] > indent):
            if self.indents[self.at] >= 0:
                end = self.at + 1
            self.at += 1
        return end

    # Explicit markup: directives, labels, comments.

    def _explicit(self, bare: str) -> None:
        at, indent = self.at, self.indents[self.at]
        if target := _TARGET.match(bare):
            self.at += 1
            name = target[1] or target[2]
            start = self._offset(at, name)
            self.draft.define(Kind.LABEL, name, start, start, start + byte_length(name))
            if target[3] and is_relative(target[3]) and not target[3].endswith("_"):
                self.draft.add_import(self._offset(at, target[3]), target[3], form="link")
        elif directive := _DIRECTIVE.match(bare):
            self._directive(directive[1].lower(), bare[directive.end() :].strip(), indent)
        elif _OTHER_MARKUP.match(bare):
            self._inline(at, at + 1)
            self.at += 1
        else:
            self.at += 1
            end = self._skip_block(indent)
            start = self.source.line_bytes[at] + indent
            self.draft.comments.append((start, self._line_end(end - 1)))

    def _directive(self, name: str, argument: str, indent: int) -> None:
        at = self.at
        self.at += 1
        domain, _, short = name.rpartition(":")
        if name in _CODE:
            self._skip_block(indent)
        elif name in _INCLUDING:
            self._import(at, argument, name)
            if name != "figure":
                self._skip_block(indent)
        elif name in _LISTED:
            self._entries(name, indent)
        elif name.startswith("auto"):
            self._options(indent)
            self._import(at, re.sub(r"\(.*", "", argument), name)
            self.module = argument if name == "automodule" and argument else self.module
        elif short == "currentmodule":
            self.module = "" if argument == "None" else argument
            self._bring_in(at, self.module, short)
        elif short in _DOCUMENTED and domain in _DOMAINS:
            self._documented(at, _DOCUMENTED[short], argument, indent)
        else:
            options = self._options(indent)
            if name == "csv-table" and "file" in options:
                self._import(options["file"][0], options["file"][1], name)
            if argument and name not in ("contents", "role", "default-role", "rubric", "only", "index", "deprecated"):
                self._inline(at, at + 1)

    def _documented(self, at: int, kind: Kind, argument: str, indent: int) -> None:
        """Declare a symbol that is documented here and defined elsewhere; its doc is the directive's content."""
        lines = [(at, argument)] if argument else []
        pieces = [argument]
        while pieces[-1].endswith("\\") and self.at < len(self.lines):
            pieces[-1] = pieces[-1][:-1]
            pieces.append(self.lines[self.at].strip())
            self.at += 1
        argument = "".join(pieces)
        options = self._options(indent)
        resume = self.at
        end = self._line_end(max(at, self._skip_block(indent) - 1))
        self.at = resume
        if kind == Kind.MODULE:
            self.module = argument
            self._bring_in(at, argument, "module")
        doc = self._content(resume, indent)
        for line, signature in lines:
            match = _SIGNATURE_NAME.match(signature)
            if match and match[1].strip(".:"):
                start = self.source.line_bytes[line] + indent
                self.draft.define(
                    kind, match[1], self._offset(line, match[1]), start, end,
                    signature=" ".join(argument.split()), declaration=True, doc=doc, modifiers=tuple(sorted(options)),
                )  # fmt: skip

    def _content(self, first: int, indent: int) -> str:
        """Return the text under a directive, up to the first explicit markup in it."""
        content: list[str] = []
        for at in range(first, len(self.lines)):
            line = self.lines[at]
            if (line and self.indents[at] <= indent) or _EXPLICIT.match(line.lstrip()):
                break
            content.append(line)
        margin = min((len(line) - len(line.lstrip()) for line in content if line), default=0)
        return "\n".join(line[margin:] for line in content).strip()

    def _options(self, indent: int) -> dict[str, tuple[int, str]]:
        """Read the options under a directive: for each name, its line and value."""
        options = {}
        while self.at < len(self.lines) and self.indents[self.at] > indent:
            option = _OPTION.match(self.lines[self.at].strip())
            if option is None:
                break
            options[option[1]] = (self.at, option[2])
            self.at += 1
        return options

    def _entries(self, name: str, indent: int) -> None:
        """Import each entry that a directive lists, one per line."""
        self._options(indent)
        while self.at < len(self.lines) and (self.indents[self.at] < 0 or self.indents[self.at] > indent):
            entry = self.lines[self.at].strip()
            if entry and not entry.startswith(("..", ":")):
                target = _LINK_TARGET.search(entry)
                self._import(self.at, target[1] if target else entry.lstrip("~"), name)
            self.at += 1

    def _bring_in(self, line: int, module: str, form: str) -> None:
        """Import the module that the following text is about."""
        if module:
            self.draft.add_import(self._offset(line, module), module, form=form)

    def _import(self, line: int, target: str, form: str) -> None:
        target = target.strip()
        if not is_relative(target) and not form.startswith("auto"):
            return
        at = self._offset(line, target)
        names_code = form.startswith("auto") and form != "automodule"
        if names_code and self.module and not target.startswith(f"{self.module}."):
            self.draft.add_import(at, self.module, name=target, form=form)
        elif target:
            self.draft.add_import(at, target, form=form)

    # Inline markup.

    def _inline(self, first: int, end: int) -> None:
        """Record the roles, literals and links of the given lines."""
        text = "\n".join(self.raw[first:end])
        if "`" not in text:
            return
        place = ByteOffsets(self.source, self.raw, first)
        for match in _spans(text):
            for at, what, words in self._span_names(match):
                offset = place(at)
                if what == "mention":
                    self.draft.add_names([(offset, offset + byte_length(words))], Role.MENTION)
                elif is_relative(words):
                    self.draft.add_import(offset, words, form=what)

    def _span_names(self, match: re.Match[str]) -> list[tuple[int, str, str]]:
        if match["role"] and match["text"] is None:
            return []
        if match["literal"]:
            return [(at, "mention", name) for at, name in code_names(match.start("literal"), match["literal"])]
        if match["quoted"]:
            target = _LINK_TARGET.search(match["quoted"])
            if match["link"]:
                relative = target and not target[1].endswith("_")
                return [(match.start("quoted") + target.start(1), "link", target[1])] if target and relative else []
            return [(at, "mention", name) for at, name in code_names(match.start("quoted"), match["quoted"])]
        role = match["role"].rpartition(":")[2]
        target = _LINK_TARGET.search(match["text"])
        start, words = match.start("text"), match["text"]
        if target:
            start, words = start + target.start(1), target[1]
        if role in _LITERAL_ROLES:
            return [(at, "mention", name) for at, name in code_names(start, words)]
        bare = words.lstrip("~!.")
        start += len(words) - len(bare)
        bare = bare.removesuffix("()")
        if role in _FILE_ROLES:
            return [(match.start("text") + (target.start(1) if target else 0), role, words)]
        return [(start, "mention", bare)] if role in _CODE_ROLES and bare and "\n" not in bare else []

    def _offset(self, line: int, words: str) -> int:
        """Return the byte offset of `words` on a line."""
        raw = self.raw[line]
        return self.source.line_bytes[line] + byte_length(raw[: max(0, raw.find(words))])

    def _line_end(self, line: int) -> int:
        return self.source.line_bytes[line] + byte_length(self.raw[line])
