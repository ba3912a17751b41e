"""Parses the block structure of a documentation comment, in any convention, into blocks of Markdown.

In: the lines of a comment without comment marks. Out: `MarkdownBlock`s. Real comments mix conventions freely, so one
reader handles all of them: it recognises what a line opens by its first character and indentation, and the dialect only
enables the constructs that would be ambiguous elsewhere (reST directives, Doxygen commands, Markdown's indented code).
reST directives for notes and versions become labelled paragraphs, code and formulas become fences; directives that only
address Sphinx (tables of contents, index entries) are dropped, and an unknown directive shows its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from concordance.extract.documents.docstrings import UNDERLINE
from concordance.query.markup import doxygen, sections, tables
from concordance.query.markup.inline import DocumentTargets, InlineReader, code, link_text
from concordance.query.markup.lines import (
    DIRECTIVE,
    STARTS,
    block_end,
    doctest_end,
    field_groups,
    first_text,
    flat_end,
    item_lines,
    titled_end,
)
from concordance.query.markup.markdown_shapes import (
    MarkdownBlock,
    code_block,
    dedent_lines,
    guess_language,
    is_code,
    is_drawing,
    list_block,
    quote_block,
    with_label,
)
from concordance.query.markup.sections import BlockReader

_OPTION = re.compile(r":[\w-]+:(?:\s|$)")
_NOTES = {
    "note": "Note", "warning": "Warning", "caution": "Caution", "danger": "Danger", "tip": "Tip", "hint": "Hint",
    "important": "Important", "attention": "Attention", "error": "Error", "seealso": "See also", "todo": "To do",
    "impl-detail": "Implementation detail", "availability": "Availability",
}  # fmt: skip
_VERSIONS = {
    "versionadded": "New in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version", "deprecated-removed": "Deprecated, removed in version",
    "versionmodified": "Changed in version",
}  # fmt: skip
_BOXES = frozenset((*_NOTES, *_VERSIONS, "admonition", "topic", "sidebar"))
_CODE = frozenset(
    ("code-block", "code", "sourcecode", "testcode", "parsed-literal", "prompt", "doctest", "ipython", "testoutput",
     "plot", "productionlist", "graphviz", "digraph", "mermaid", "jupyter-execute", "testsetup")
)  # fmt: skip
_DROPPED = frozenset(
    ("toctree", "currentmodule", "module", "index", "highlight", "contents", "include", "raw", "role", "default-role",
     "automodule", "py:module", "py:currentmodule", "tocdepth", "title", "meta", "sectnum", "literalinclude",
     "cssclass",
     "testcleanup", "sectionauthor", "moduleauthor", "codeauthor", "no-index", "inheritance-diagram", "bibliography",
     "date", "target-notes", "highlightlang")
)  # fmt: skip
_OPEN = frozenset(("container", "only", "compound", "pull-quote", "epigraph", "highlights", "class", "tab-set", "grid"))
_DEFINED = frozenset(
    ("function", "class", "method", "attribute", "data", "exception", "decorator", "classmethod", "staticmethod",
     "property", "autofunction", "autoclass", "automethod", "autoattribute", "autodata", "autoexception", "envvar",
     "option", "cmdoption", "describe", "type", "macro", "member", "struct", "enum", "enumerator", "var", "object")
)  # fmt: skip
_SUMMARY = frozenset(("autosummary", "hlist"))
_FILES = frozenset(("toctree", "include", "literalinclude", "image", "figure"))  # resolved in documents
_TOC_ENTRY = re.compile(r"(?P<title>[^<>]*)<(?P<target>[^<>]+)>\Z")
_MAX_DEPTH = 8  # levels of nesting that are parsed; deeper text becomes a paragraph
_FENCE = re.compile(r"(`{3,}|~{3,})[ ]*(?:\{?\.?([\w+#-]*)[^`]*)?$")
_BULLET = re.compile(r"[-*+•‣][ ]+(?=\S)")
_NUMBER = re.compile(r"(?:(\d{1,4}|\#)[.)]|\((\d{1,2}|[a-z]|[ivx]{1,4})\)|([a-z])\))[ ]+(?=\S)")
_FOOTNOTE = re.compile(r"\.\.[ ]+\[([^\]]+)\][ ]*(.*)", re.S)
_HEADING = re.compile(r"#{1,6}[ ]+(?=\S)")
_LABEL = re.compile(r"[A-Z][\w/'&-]{1,30}(?: (?:[A-Z]|of |and |the )[\w/'&-]{1,30}){0,4}(?: [\w/'&-]{1,20})?::?")
_SIGNATURE = re.compile(r"[A-Za-z_][\w.]*\([^`\n]*\)(?:[ ]*->[ ]*[^`\n]*[^`.\n])?")
_WORDS = re.compile(r"[A-Z][\w'`:,.~-]*(?: [\w'`:,.~-]+){3,}")
_TERM = re.compile(r"(?:[^\s.,;:!?](?:.{0,70}[^.,;:!?\s])?)$")


@dataclass
class Dialect:
    """Which markup conventions are recognised in a text."""

    rest: bool = False  # directives, fields, literal blocks after `::`
    commands: bool = False  # `@param`, `\\brief`
    indented: int = 0  # indentation that makes a block code; 0: only if it looks like code
    headings: bool = False  # `# Title`
    fence: str = ""  # the language of a fence that does not name one
    members: str = "Parameters"  # the label of a list of `@name:` entries
    boxes: bool = False  # notes are quotations, so that a page can set them off


class BlockParser:
    """Parser for the blocks of one comment."""

    def __init__(self, words: InlineReader, language: str, dialect: Dialect) -> None:
        self.words, self.language, self.dialect = words, language, dialect
        self.members = dialect.members
        self._depth = 0

    def convert(self, lines: Sequence[str]) -> list[MarkdownBlock]:
        """Return the blocks of the given lines."""
        if self._depth > _MAX_DEPTH:
            text = "\n".join(line.strip() for line in lines if line.strip())
            return [MarkdownBlock("text", self.words.paragraph(text))] if text else []
        self._depth += 1
        blocks: list[MarkdownBlock] = []
        at = 0
        margin = -1
        while at < len(lines):
            text = lines[at].lstrip()
            if not text:
                at += 1
                continue
            indent = len(lines[at]) - len(text)
            if margin < 0 or indent < margin:
                margin = indent
            if indent > margin and blocks:
                at = self._indented_block(lines, at, margin, blocks)
            else:
                at = self._open(lines, at, indent, text, blocks)
        self._depth -= 1
        return blocks

    def _open(self, lines: Sequence[str], at: int, indent: int, text: str, output: list[MarkdownBlock]) -> int:
        """Parse the block that a line opens; return the number of the line after it."""
        sign = text[0]
        end = at
        if sign.isalpha():
            end = self._section(lines, at, indent, text, output)
            return (
                end
                if end > at
                else self._titled(lines, at, indent, text, output) or self._paragraph(lines, at, indent, output)
            )
        if sign in "`~":
            end = self._fence(lines, at, indent, text, output)
        elif sign == ">":
            end = self._quote(lines, at, indent, text, output)
        elif sign == "." and self.dialect.rest and (text.startswith(".. ") or text == ".."):
            end = self._directive(lines, at, indent, text, output)
        elif sign == ":" and sections.is_field(text):
            groups, end = field_groups(lines, at, indent)
            output += sections.field_list(self, groups)
        elif sign in "@\\" and self.dialect.commands:
            end = doxygen.command_block(self, lines, at, output)
        elif sign == "#" and self.dialect.headings and _HEADING.match(text):
            output.append(MarkdownBlock("text", self.words.label(text.strip("# "))))
            end = at + 1
        if end == at and sign in "+=|" and (end := tables.table_end(lines, at)) > at:
            output.append(tables.table(self.words, lines[at:end]))
        if end == at and (_BULLET.match(text) or _NUMBER.match(text)):
            end = self._list(lines, at, indent, output)
        if end == at and sign == "|" and text.startswith("| "):
            end = self._line_block(lines, at, output)
        if end > at:
            return end
        return self._titled(lines, at, indent, text, output) or self._paragraph(lines, at, indent, output)

    # --- code

    def _fence(self, lines: Sequence[str], at: int, indent: int, text: str, output: list[MarkdownBlock]) -> int:
        match = _FENCE.match(text)
        if match is None:
            return at
        end = at + 1
        while end < len(lines):
            line = lines[end].strip()
            if line.startswith(match[1]) and not line.strip(match[1][0]):
                break
            end += 1
        body = [line[min(indent, len(line) - len(line.lstrip())) :] for line in lines[at + 1 : end]]
        named = (match[2] or self.dialect.fence).partition(",")[0]
        if self.dialect.fence == "rust" and named in ("rust", "no_run", "ignore", "should_panic", "compile_fail", ""):
            named = "rust"  # lines that begin with `# ` are meant for the compiler only
            body = [line for line in body if line.strip() != "#" and not line.lstrip().startswith("# ")]
        if any(line.strip() for line in body):
            output.append(code_block(body, named or guess_language("\n".join(body), self.language)))
        return end + 1

    def _quote(self, lines: Sequence[str], at: int, indent: int, text: str, output: list[MarkdownBlock]) -> int:
        end = at
        if text.startswith(">>>"):
            end = doctest_end(lines, at, indent)
            output.append(code_block(lines[at:end], "python"))
            return end
        if self.dialect.headings and text.startswith("> "):
            while end < len(lines) and lines[end].lstrip().startswith(">"):
                end += 1
            inside = self.convert([line.lstrip()[1:].removeprefix(" ") for line in lines[at:end]])
            output += [quote_block(inside)] if inside else []
        return end

    def _indented_block(self, lines: Sequence[str], at: int, margin: int, output: list[MarkdownBlock]) -> int:
        """Parse a block that is indented more than its surroundings: code, or indented text."""
        end = block_end(lines, at, margin)
        block = list(lines[at:end])
        body = dedent_lines(block)
        first = body[0]
        depth = len(block[0]) - len(block[0].lstrip()) - margin
        after_blank = not lines[at - 1].strip()
        opens = (
            _BULLET.match(first) or _NUMBER.match(first) or _FENCE.match(first) or first.startswith((">>>", ".. ", "@"))
        )
        is_set_off = self.dialect.indented and depth >= self.dialect.indented and after_blank
        bullets = sum(1 for line in body if _BULLET.match(line.lstrip()))
        if not opens and (is_set_off or (bullets * 3 < len(body) and is_code(body))):
            output += self._literal(body)
        else:
            output += self.convert(body)
        return end

    def _literal(self, lines: Sequence[str]) -> list[MarkdownBlock]:
        """Return lines that are meant as code as a fence; prose that contains doctests is parsed as prose."""
        body = dedent_lines(lines)
        text = "\n".join(body)
        if ">>> " in text and _WORDS.match(text):
            return self.convert(body)
        return [code_block(body, guess_language(text, self.language))]

    # --- reST

    def _directive(self, lines: Sequence[str], at: int, indent: int, text: str, output: list[MarkdownBlock]) -> int:
        end = block_end(lines, at + 1, indent)
        body = list(lines[at + 1 : end])
        if match := DIRECTIVE.match(text):
            if not body and not match[3] and end < len(lines):  # the author forgot to indent the body
                return end
            while body and body[0].strip() and not body[0].lstrip().startswith(":") and match[1] is None:
                if match[2].lower() not in ("function", "class", "method", "py:function", "image", "figure"):
                    break
                match = DIRECTIVE.match(f"{text} {body.pop(0).strip()}") or match
                text = match[0]
            if match[1] is None:
                converted = directive_blocks(self, match[2], (match[3] or "").strip(), body)
                is_box = self.dialect.boxes and match[2].lower() in _BOXES
                output += [quote_block(converted)] if is_box and converted else converted
        elif match := _FOOTNOTE.match(text):
            blocks = self.convert([match[2], *dedent_lines(body)])
            output += with_label(f"\\[{self.words.markdown(match[1])}]", blocks)
        return end

    def _line_block(self, lines: Sequence[str], at: int, output: list[MarkdownBlock]) -> int:
        end = at
        while end < len(lines) and lines[end].lstrip().startswith("|"):
            end += 1
        rows = [lines[n].lstrip()[1:].strip() for n in range(at, end)]
        if end - at < 2 or any("|" in row for row in rows):
            output.append(code_block(lines[at:end]))
        else:
            output.append(MarkdownBlock("text", "\\\n".join(self.words.paragraph(row) for row in rows if row)))
        return end

    # --- titles and sections

    def _titled(self, lines: Sequence[str], at: int, indent: int, text: str, output: list[MarkdownBlock]) -> int:
        """Parse an underlined title, and the section below it if NumPy's convention defines one; return 0 if none."""
        if UNDERLINE.fullmatch(text):
            over = at + 2 < len(lines) and lines[at + 1].strip() and lines[at + 2].strip() == text
            if over:
                output.append(MarkdownBlock("text", self.words.label(lines[at + 1].strip())))
            return at + 3 if over else at + 1
        under = lines[at + 1].strip() if at + 1 < len(lines) else ""
        if not under or under[0] not in "=-~^\"'`#*+.:_" or not UNDERLINE.fullmatch(under):
            return 0
        key = sections.section_of_title(text)
        if key and key not in sections.PROSE:
            end = titled_end(lines, at + 2, indent)
            output += sections.numpy_section(self, key, lines[at + 2 : end])
            return end
        title = (sections.PROSE.get(key) or text) if key else text
        output.append(MarkdownBlock("text", self.words.label(title.rstrip(":") + (":" if key else ""))))
        return at + 2

    def _section(self, lines: Sequence[str], at: int, indent: int, text: str, output: list[MarkdownBlock]) -> int:
        """Parse a section whose header is on its own line or before its text; return `at` if there is none."""
        head = sections.section_header(text)
        end = block_end(lines, at + 1, indent)
        if head is None:
            is_own = text[-1] == ":" and (at == 0 or not lines[at - 1].strip()) and _LABEL.fullmatch(text)
            if not is_own or end == at + 1 or not any(line.strip() for line in lines[at + 1 : end]):
                return at
            output.append(MarkdownBlock("text", self.words.label(text.rstrip(":") + ":")))
            first = next(n for n in range(at + 1, end) if lines[n].strip())
            if text.endswith("::") and self.dialect.rest:
                output += self._literal(lines[first:end])
                return end
            return self._indented_block(lines, first, indent, output)
        key, inline = head
        is_empty = not any(line.strip() for line in lines[at + 1 : end])
        if is_empty and not inline:
            bullets = at + 1 < len(lines) and _BULLET.match(lines[at + 1].lstrip())
            if (at == 0 or bullets) and key not in sections.PROSE:  # the first line of a docstring is not indented
                end = flat_end(lines, at + 1)
            elif key in sections.PROSE and (
                first_text(lines, at + 1).startswith((">>>", "```")) or not first_text(lines, at + 1)
            ):
                output += (
                    [MarkdownBlock("text", f"**{sections.PROSE[key] or text.rstrip(':')}:**")]
                    if first_text(lines, at + 1)
                    else []
                )
                return at + 1
        if end == at + 1 and not inline:
            return at
        if inline and key in sections.ITEMS and is_empty:
            return at
        if inline and is_empty:  # the text continues without being indented
            while end < len(lines) and lines[end].strip() and not STARTS.match(lines[end].lstrip()):
                if sections.section_header(lines[end].lstrip()):
                    break
                end += 1
        body = list(lines[at + 1 : end])
        if text.endswith("::") and self.dialect.rest and key in sections.PROSE:
            output += [MarkdownBlock("text", f"**{sections.PROSE[key]}:**"), *self._literal(body)]
        else:
            output += sections.google_section(self, key, inline, body)
        return end

    # --- lists and paragraphs

    def _list(self, lines: Sequence[str], at: int, indent: int, output: list[MarkdownBlock]) -> int:
        """Parse list items of the same indentation, each with what is indented below it."""
        numbered = _NUMBER.match(lines[at].lstrip())
        pattern = _NUMBER if numbered else _BULLET
        items: list[list[MarkdownBlock]] = []
        end = at
        while end < len(lines):
            text = lines[end].lstrip()
            match = pattern.match(text) if len(lines[end]) - len(text) == indent else None
            if match is None:
                break
            first, end = end, block_end(lines, end + 1, indent)
            while (
                end < len(lines)
                and lines[end - 1].strip()
                and lines[end].strip()
                and not STARTS.match(lines[end].lstrip())
            ):
                if len(lines[end]) - len(lines[end].lstrip()) < indent:
                    break
                end = block_end(lines, end + 1, indent)  # a continuation line that is not indented
            blocks = self.convert(item_lines(text[match.end() :], lines[first + 1 : end], indent + match.end()))
            is_plain = not numbered or numbered[1]
            items.append(blocks if is_plain else with_label(match[0].strip(), blocks))
            behind = end
            while behind < len(lines) and not lines[behind].strip():
                behind += 1
            if behind < len(lines) and pattern.match(lines[behind].lstrip()):
                end = behind
        if numbered and numbered[1] and len(items) == 1 and numbered[1] not in ("0", "1", "#"):
            return at  # a sentence that begins with a number
        start = int(numbered[1]) if numbered and numbered[1] and numbered[1].isdigit() else 1
        output += list_block(items, start if numbered and numbered[1] else -1)
        return end

    def _paragraph(self, lines: Sequence[str], at: int, indent: int, output: list[MarkdownBlock]) -> int:
        end = at + 1
        is_rest = self.dialect.rest
        while end < len(lines):
            line = lines[end]
            text = line.lstrip()
            if not text:
                break
            depth = len(line) - len(text)
            if depth < indent or (STARTS.match(text) and self._breaks(lines, end, text, depth > indent)):
                break
            if depth > indent and (
                lines[end - 1].endswith(":") or (end == at + 1 and is_rest and self._is_term(lines, at))
            ):
                break
            if depth == indent and (sections.section_header(text) or ("", "x"))[1] == "":
                break
            if (
                end + 1 < len(lines)
                and lines[end + 1].lstrip()[:3] in ("---", "===")
                and sections.section_of_title(text)
            ):
                break
            end += 1
        block = list(lines[at:end])
        if len(block) > 1 and (named := sections.aligned_items(block, indent)):
            output += sections.item_list(self, named)
            return end
        if len(block) > 1 and is_drawing(block):
            output.append(code_block(block))
            return end
        text = "\n".join([line.strip() for line in block])
        if at == 0 and end == at + 1 and _SIGNATURE.fullmatch(text):
            output.append(MarkdownBlock("text", code(text)))
            return end
        below = block_end(lines, end, indent)
        literal = text.endswith("::") and (is_rest or (end < len(lines) and not lines[end].strip()))
        if literal and any(line.strip() for line in lines[end:below]):
            text = text[:-2] if text == "::" or text[-3].isspace() else text[:-1]
            output += [MarkdownBlock("text", self.words.paragraph(text.rstrip()))] if text.strip() else []
            output += self._literal(lines[end:below])
            return below
        if end == at + 1 and end < below and lines[end].strip() and is_rest and self._is_term(lines, at):
            output += list_block(
                [with_label(f"{self.words.label(text)}:", self.convert(dedent_lines(lines[end:below])))]
            )
            return below
        if text.endswith("::") and is_rest:  # the code that it announces is not indented
            text = text.removesuffix("::").rstrip()
            text += ":" if text else ""
        output += [MarkdownBlock("text", self.words.paragraph(text))] if text else []
        return end

    def _is_term(self, lines: Sequence[str], at: int) -> bool:
        """True if a line is a term defined by the indented text below it, not the start of a hanging paragraph."""
        text = lines[at].strip()
        if at + 1 >= len(lines) or not _TERM.match(text) or (at and lines[at - 1].strip()):
            return False
        below = lines[at + 1].strip()
        return len(text) <= 48 and (below[:1].isupper() or text[:1] in "`'\"-" or " " not in text)

    def _breaks(self, lines: Sequence[str], at: int, text: str, deeper: bool) -> bool:
        """True if a line that looks like the start of a block ends the paragraph above it."""
        sign = text[0]
        before = lines[at - 1].rstrip()
        if sign in "-*+•‣" and text[1:2] == " ":
            return (
                deeper
                or before.endswith(":")
                or self.dialect.headings
                or sign == "•"
                or _BULLET.match(before.lstrip()) is not None
            )
        if sign.isdigit():
            return (
                before.endswith(":")
                or (text[:2] in ("1.", "1)") and (deeper or before.endswith(".")))
                or _NUMBER.match(before.lstrip()) is not None
            )
        if sign == ":":
            return sections.is_field(text)
        if sign in "@\\":
            return self.dialect.commands and doxygen.opens_block(text, self.language)
        if sign == "." and text.startswith(".. "):
            return self.dialect.rest and "::" in text
        if sign == "#" and text.lstrip("#")[:1] == " ":
            return self.dialect.headings
        if _FENCE.match(text) or text.startswith(">>>"):
            return True
        return tables.table_end(lines, at) > at


# --- reST directives


def directive_blocks(reader: BlockReader, name: str, argument: str, body: Sequence[str]) -> list[MarkdownBlock]:
    """Return the blocks of a directive with its argument and body."""
    name = name.lower()
    options, lines = _options(body)
    if name in _NOTES:
        return with_label(f"**{_NOTES[name]}:**", reader.convert([argument, *lines] if argument else lines))
    if name in _VERSIONS:
        version, _, words = argument.partition(" ")
        blocks = reader.convert([words.strip(" :"), *lines])
        label = f"**{_VERSIONS[name]} {reader.words.markdown(version)}{':' if blocks else '.'}**"
        return with_label(label, blocks)
    if name in _CODE:
        return _code(reader, name, argument, lines)
    if name == "math":
        return [code_block([argument, *lines] if argument else lines, "math")]
    documents = reader.words.documents
    if documents is not None and name in _FILES:
        return _file_blocks(reader, documents, name, argument, options, lines)
    if name in ("image", "figure"):
        shown = link_text(options.get("alt", "") or argument.rpartition("/")[2] or "image", argument)
        return [MarkdownBlock("text", f"Image: {shown}"), *(reader.convert(lines) if name == "figure" else [])]
    if name in _DROPPED:
        return []
    if name in ("admonition", "topic", "sidebar", "dropdown"):
        title = [MarkdownBlock("text", reader.words.label(argument))] if argument else []
        return [*title, *reader.convert(lines)]
    if name in ("rubric", "table", "list-table", "versionnote", "centered"):
        return with_label(reader.words.label(argument), reader.convert(lines)) if argument else reader.convert(lines)
    if name == "csv-table":
        return [*([MarkdownBlock("text", reader.words.label(argument))] if argument else []), code_block(lines)]
    if name in _SUMMARY:
        return list_block(
            [[MarkdownBlock("text", reader.words.code(line.split()[0].lstrip("*-")))] for line in lines if line.strip()]
        )
    bare = name.rpartition(":")[2]
    if bare in _DEFINED:
        return [MarkdownBlock("text", code(argument)), *reader.convert(lines)] if argument else reader.convert(lines)
    if name in _OPEN:
        return reader.convert(lines)
    return with_label(f"**{reader.words.markdown(name)}:**", reader.convert([argument, *lines] if argument else lines))


def _file_blocks(
    reader: BlockReader, documents: DocumentTargets, name: str, argument: str, options: dict[str, str],
    lines: Sequence[str],
) -> list[MarkdownBlock]:  # fmt: skip
    """Return what a directive shows of other files: a picture, or links to documents."""
    words = reader.words
    if name in ("image", "figure"):
        label = options.get("alt", "") or argument.rpartition("/")[2]
        picture = documents.picture(argument, label)
        shown = words.reference(picture) if picture is not None else link_text(label or "image", argument)
        return [MarkdownBlock("text", shown), *(reader.convert(lines) if name == "figure" else [])]
    if name == "toctree" and "hidden" in options:
        return []
    targets = lines if name == "toctree" else [argument]
    items = []
    for line in filter(str.strip, targets):
        entry = _TOC_ENTRY.match(line.strip())
        target, title = (entry["target"], entry["title"].rstrip()) if entry else (line.strip(), "")
        parts = documents.document(target)
        if parts is not None:
            ref = parts[0] if name == "toctree" else parts[0]._replace(label=parts[1], code=True)
            items.append([MarkdownBlock("text", words.reference(ref._replace(label=title or ref.label)))])
        elif entry and (title or _is_web(target)):
            items.append([MarkdownBlock("text", link_text(title or target, target))])
    return list_block(items) if name == "toctree" else [block for item in items for block in item]


def _is_web(target: str) -> bool:
    return target.startswith(("http://", "https://"))


def _options(body: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return a directive's options, and the lines after them."""
    lines = dedent_lines(body)
    options = {}
    at = 0
    while at < len(lines) and _OPTION.match(lines[at]):
        name, _, value = lines[at][1:].partition(":")
        options[name] = value.strip()
        at += 1
    return options, dedent_lines(lines[at:]) if at else lines


def _code(reader: BlockReader, name: str, argument: str, lines: Sequence[str]) -> list[MarkdownBlock]:
    if not any(line.strip() for line in lines):
        return []
    stated = argument.split()[0] if argument and name in ("code-block", "code", "sourcecode") else ""
    if name in ("graphviz", "digraph"):
        stated = "dot"
    return [code_block(lines, stated.lower() or guess_language("\n".join(lines), reader.language))]
