"""Converts the commands of Doxygen, Javadoc, JSDoc and kernel-doc, and HTML in comments, to Markdown.

In: a line that begins with `@command` or `\\command`, and the lines after it; for HTML, the whole comment, before it is
parsed. Out: blocks; for HTML, text with Markdown in place of the tags. Parameters, results and errors become the same
lists as in other conventions. Commands that only tell the tool where a comment belongs (`@file`, `@ingroup`) are
dropped. An unknown command is shown as written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from concordance.base.kinds import DocMarkup
from concordance.extract.registry import language_of
from concordance.query.markup.markdown_shapes import MarkdownBlock, code_block, fence_name, list_block, with_label
from concordance.query.markup.sections import BlockReader, SectionItem, dedent_following, item_list

_COMMAND = re.compile(r"[@\\]([A-Za-z]+|[{}])(?![A-Za-z])", re.S)
_MEMBER = re.compile(r"@((?:\w|->|\.)+(?:\(\))?|\.\.\.)[ ]*:[ ]?(.*)", re.S)
_PARAM = re.compile(
    r"[@\\]\w+(?:\[(?P<way>[\w, ]+)\])?\s+(?:\{(?P<type>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*)?"
    r"(?P<name>\[[^\]\n]*\]|<\w+>|[\w$.*&:-]+(?:\s*,\s*[\w$]+(?=\s))*)?(?:\s+-(?=\s))?\s*(?P<words>.*)",
    re.S,
)
_ENDS = {"code": "endcode", "verbatim": "endverbatim", "dot": "enddot", "msc": "endmsc", "startuml": "enduml",
         "htmlonly": "endhtmlonly", "latexonly": "endlatexonly", "rst": "endrst", "xmlonly": "endxmlonly",
         "f[": "f]", "rststar": "endrststar"}  # fmt: skip
_NAMED = {
    "param": "Parameters", "params": "Parameters", "arg": "Parameters", "argument": "Parameters",
    "tparam": "Template parameters", "template": "Template parameters",
    "throws": "Raises", "throw": "Raises", "exception": "Raises", "raises": "Raises", "retval": "Return values",
    "property": "Properties", "prop": "Properties", "field": "Fields",
}  # fmt: skip
_LABELS = {
    "return": "Returns", "returns": "Returns", "result": "Returns", "yields": "Yields", "yield": "Yields",
    "note": "Note", "notes": "Note", "warning": "Warning", "attention": "Attention", "deprecated": "Deprecated",
    "todo": "To do",
    "bug": "Bug", "since": "Since", "see": "See", "sa": "See also", "pre": "Precondition", "post": "Postcondition",
    "invariant": "Invariant", "remark": "Remark", "remarks": "Remarks", "version": "Version", "author": "Author",
    "authors": "Authors", "date": "Date", "important": "Important", "example": "Example", "default": "Default",
    "type": "Type", "rtype": "Type", "fires": "Fires", "emits": "Emits", "test": "Test", "copyright": "Copyright",
    "apiNote": "API note", "implNote": "Implementation note", "implSpec": "Implementation", "discussion": "",
    "brief": "", "short": "", "details": "", "detail": "", "desc": "", "description": "", "summary": "", "abstract": "",
    "fileoverview": "", "overview": "", "license": "License", "enum": "Type", "this": "This", "callback": "Callback",
}  # fmt: skip
_DROPPED = frozenset(
    ("file", "class", "struct", "union", "fn", "def", "var", "ingroup", "addtogroup", "defgroup", "weakgroup",
     "internal", "cond", "endcond", "if", "ifnot", "else", "endif", "hideinitializer", "headerfile", "package",
     "namespace", "module", "private", "public", "protected", "static", "async", "override", "export", "inheritDoc",
     "inheritdoc", "memberof", "function", "constructor", "readonly", "name", "endlink", "nosubgrouping", "relates",
     "relatesalso", "interface", "typedef", "suppress", "final", "const", "constant", "implements", "extends",
     "augments",
     "hide", "kind", "method", "global", "inner", "instance", "lends", "access", "category", "subcategory",
     "copydetails",
     "endinternal", "showinitializer", "mainpage", "page", "anchor", "tableofcontents", "nospecialization", "ts",
     "{", "}")
)  # fmt: skip
_TYPES = frozenset(("class", "struct", "union", "enum", "interface"))
_NEVER_NAMES = frozenset(
    ("return", "returns", "note", "brief", "param", "warning", "see", "throws", "deprecated", "todo")
)
_TITLES = frozenset(("section", "subsection", "subsubsection", "par", "paragraph"))
_TAKE_A_NAME = frozenset(("section", "subsection", "subsubsection", "paragraph"))


def opens_block(text: str, language: str) -> bool:
    """True if a line opens a block with a known command."""
    if _is_member(text, language) or text[1:3] in ("f[", "f{"):
        return True
    match = _COMMAND.match(text)
    word = match[1] if match is not None else ""
    return word in _LABELS or word in _NAMED or word in _DROPPED or word in _TITLES or word in _ENDS or word == "li"


def _is_member(text: str, language: str) -> bool:
    """True if a line is kernel-doc's `@name: text`."""
    usual = language_of(language).doc_markup
    match = _MEMBER.match(text) if DocMarkup.MEMBERS in usual and text[0] == "@" else None
    if match is None:
        return False
    return match[1].lower() not in _NEVER_NAMES or (match[1] == "param" and DocMarkup.KERNEL_DOC in usual)


def single_member_text(doc: str) -> str:
    """Return the text of a comment about a single member without the leading `@name:`; other comments unchanged."""
    match = _MEMBER.match(doc)
    return match[2] if match is not None and "\n@" not in doc and match[1].lower() not in _NEVER_NAMES else doc


def member_text(doc: str) -> str:
    """Return a comment without the leading `@name:` of the member it opens with."""
    match = _MEMBER.match(doc)
    return match[2] if match is not None and match[1].lower() not in _NEVER_NAMES else doc


def command_block(reader: BlockReader, lines: Sequence[str], at: int, output: list[MarkdownBlock]) -> int:
    """Parse the block that a command opens; return the line after it, or `at` if the line is not a command."""
    text = lines[at].strip()
    if _is_member(text, reader.language):
        return _list_items(reader, lines, at, output, reader.members)
    match = _COMMAND.match(text)
    word = text[1:3] if text[1:3] in ("f[", "f{") else match[1] if match else ""
    if word in _ENDS or word == "f{":
        return _verbatim(reader, word, lines, at, output)
    if match is None or not opens_block(text, reader.language):
        return at
    rest = text[match.end() :].strip()
    if word in _NAMED:
        return _list_items(reader, lines, at, output, _NAMED[word])
    if word == "li":
        return _bullets(reader, lines, at, output)
    end = _end(reader, lines, at)
    if word in _DROPPED:
        if word in ("defgroup", "addtogroup", "mainpage", "page", "name") and len(rest.split()) > 1:
            title = rest if word in ("mainpage", "name") else rest.partition(" ")[2]
            output.append(MarkdownBlock("text", reader.words.label(title)))
        if word in _TYPES and len(rest.split()) > 3:  # after a type's name, there is only that of its header
            output += reader.convert([rest, *lines[at + 1 : end]])
        elif len(rest.split()) <= 1 or word in ("file", "suppress", "ingroup", "memberof"):
            output += reader.convert(lines[at + 1 : end])
        return end
    if word in _TITLES:
        title = rest.partition(" ")[2] or rest if word in _TAKE_A_NAME else rest
        output += [MarkdownBlock("text", reader.words.label(title))] if title else []
        output += reader.convert(lines[at + 1 : end])
        return end
    if word in ("return", "returns", "type", "rtype", "enum", "this", "yields") and re.match(r"\{(?!@)", rest):
        stated, _, rest = rest[1:].partition("}")
        rest = f"({stated}) {rest.strip(' -')}".strip()
    body = dedent_following([rest, *lines[at + 1 : end]])
    if word == "example" and any(line.strip() for line in body):
        output += [
            MarkdownBlock("text", "**Example:**"),
            *(reader.convert(body) if "```" in "\n".join(body) else [code_block(body, fence_name(reader.language))]),
        ]
        return end
    if word in ("see", "sa") and body and len(body) == 1 and re.fullmatch(r"[\w.#:]+(?:\(\))?", body[0]):
        output.append(MarkdownBlock("text", f"**{_LABELS[word]}:** {reader.words.code(body[0].strip('#:'))}"))
        return end
    blocks = reader.convert(body)
    output += with_label(f"**{_LABELS[word]}:**", blocks) if _LABELS[word] and blocks else blocks
    return end


def _end(reader: BlockReader, lines: Sequence[str], at: int) -> int:
    """Return the line after a command's paragraph."""
    end = at + 1
    while end < len(lines):
        text = lines[end].lstrip()
        if not text or (text[0] in "@\\" and opens_block(text, reader.language)):
            break
        end += 1
    return end


def _verbatim(reader: BlockReader, word: str, lines: Sequence[str], at: int, output: list[MarkdownBlock]) -> int:
    """Parse code up to the command that ends it, or to the end of the text if there is none."""
    close = "f}" if word == "f{" else _ENDS[word]
    first = lines[at].strip()[1 + len(word) :]
    named = re.match(r"\s*\{\.?(\w+)\}", first)
    first = first[named.end() :] if named else first
    body = [first]
    end = at
    pattern = re.compile(rf"[@\\]{re.escape(close)}")
    while True:
        stop = pattern.search(body[-1])
        if stop is not None:
            body[-1] = body[-1][: stop.start()].rstrip()
            break
        end += 1
        if end >= len(lines):
            break
        body.append(lines[end])
    if word in ("rst", "rststar"):
        output += reader.convert(body)
    elif word not in ("htmlonly", "latexonly", "xmlonly") and any(line.strip() for line in body):
        kind = "math" if word.startswith("f") else "dot" if word == "dot" else named[1] if named else ""
        output.append(
            code_block(
                body if body[0].strip() else body[1:], kind or (fence_name(reader.language) if word == "code" else "")
            )
        )
    return end + 1


def _list_items(reader: BlockReader, lines: Sequence[str], at: int, output: list[MarkdownBlock], label: str) -> int:
    """Parse consecutive commands of one kind as a list."""
    items: list[SectionItem] = []
    while at < len(lines):
        text = lines[at].strip()
        if not text:
            behind = next((n for n in range(at, min(at + 3, len(lines))) if lines[n].strip()), -1)
            if behind < 0 or _label(reader, lines[behind].strip()) != label:
                break
            at = behind
            continue
        if _label(reader, text) != label:
            break
        end = _end(reader, lines, at)
        items.append(_entry(text, lines[at + 1 : end], reader.language))
        at = end
    output += [MarkdownBlock("text", f"**{label}:**"), *item_list(reader, items)]
    return at


def _label(reader: BlockReader, text: str) -> str:
    if text[:1] not in ("@", "\\"):
        return ""
    if _is_member(text, reader.language):
        return reader.members
    match = _COMMAND.match(text)
    return _NAMED.get(match[1], "") if match else ""


def _entry(text: str, below: Sequence[str], language: str) -> SectionItem:
    member = _MEMBER.match(text) if _is_member(text, language) else None
    if member is not None:
        return SectionItem(member[1], "", [member[2].strip(), *below])
    match = _PARAM.match(text)
    if match is None:
        return SectionItem("", "", [text.partition(" ")[2].strip(), *below])
    name = match["name"] or ""
    stated = ", ".join(part for part in (match["type"], match["way"]) if part)
    if name.startswith("["):  # JSDoc's notation for an optional parameter
        name, _, default = name[1:-1].partition("=")
        stated = ", ".join(part for part in (stated, f"default {default}" if default else "optional") if part)
    return SectionItem(name.strip("<>"), stated, [match["words"].strip(), *below])


def _bullets(reader: BlockReader, lines: Sequence[str], at: int, output: list[MarkdownBlock]) -> int:
    items = []
    while at < len(lines) and (text := lines[at].strip())[1:4] == "li ":
        end = _end(reader, lines, at)
        items.append(reader.convert(dedent_following([text[4:], *lines[at + 1 : end]])))
        at = end
    output += list_block(items)
    return at if items else at + 1


# --- HTML in comments

_OPENS = re.compile(r"[ ]*(```|~~~)|[ ]*[@\\](code|verbatim)\b")
_CODE = re.compile(r"(`[^`\n]+`)")
_PRE = re.compile(r"<pre(?:\s[^<>]*)?>((?:(?!</?pre\b).)*+)</pre>", re.S | re.I)
_TAG = re.compile(
    r"</?(?:p|br|ul|ol|dl|li|dt|dd|div|hr|blockquote|h[1-6]|span|center|small|code|tt|b|strong|i|em|var|cite|kbd|samp|a)"
    r"(?:\s[^<>]*)?/?>",
    re.I,
)
_CODE_TAG = re.compile(r"<(code|tt|kbd|samp)>([^<>`]{1,400}(?:<[^<>`]{0,100}>[^<>`]{0,300})?)</\1>", re.I)
_STRONG_TAG = re.compile(r"<(b|strong|h[1-6])>\s*+([^<>*]{1,400}?)(?<!\s)\s*+</\1>", re.I)
_LIGHT_TAG = re.compile(r"<(i|em|var|cite)>([^<>*\s](?:[^<>*]{0,400}[^<>*\s])?)</\1>", re.I)
_ANCHOR = re.compile(r"<a\s[^<>]*?href\s*=\s*[\"']?([^\"'<>\s]+)[\"']?[^<>]*>([^<>]{1,400})</a>", re.I)


def html_to_markdown(text: str) -> str:
    """Return a comment with Markdown in place of HTML tags; tags without a counterpart stay as written."""
    parts: list[str] = []
    open_text: list[str] = []
    close = ""
    for line in _pre_fenced(text).split("\n"):
        opens = _OPENS.match(line) if not close else None
        if opens is not None and f"end{opens[2]}" not in line:
            parts += [_convert_tags("\n".join(open_text)), line] if open_text else [line]
            open_text, close = [], opens[1] or f"end{opens[2]}"
        elif close:
            parts.append(line)
            close = "" if close in line else close
        else:
            open_text.append(line)
    return "\n".join([*parts, _convert_tags("\n".join(open_text))] if open_text else parts)


def _pre_fenced(text: str) -> str:
    if "</pre>" not in text.lower():
        return text
    return _PRE.sub(lambda match: f"\n\n```\n{_bare_code(match[1])}\n```\n\n", text)


def _bare_code(text: str) -> str:
    text = html.unescape(re.sub(r"</?(?:code|b|i|em|strong|span|a)\b[^<>]*>", "", text, flags=re.I)).strip("\n")
    inline = re.fullmatch(r"\s*\{@(?:code|literal)\s(.*)\}\s*", text, re.S)
    return inline[1].strip("\n") if inline else text


def _convert_tags(text: str) -> str:
    parts = _CODE.split(text) if "`" in text else [text]
    return "".join(part if place % 2 else _tags_to_markdown(part) for place, part in enumerate(parts))


def _tags_to_markdown(text: str) -> str:
    if "<" not in text and "&" not in text:
        return text
    text = _CODE_TAG.sub(lambda m: f"`{html.unescape(m[2])}`", text)
    text = _STRONG_TAG.sub(lambda m: f"\n\n**{m[2]}**\n\n" if m[1][0] in "hH" else f"**{m[2]}**", text)
    text = _LIGHT_TAG.sub(r"*\2*", text)
    text = _ANCHOR.sub(lambda m: f"[{m[2]}]({m[1]})", text)
    text = _TAG.sub(_tag, text)
    return html.unescape(text) if "&" in text else text


def _tag(match: re.Match[str]) -> str:
    name = match[0].strip("</>").split()[0].lower() if match[0].strip("</>").split() else ""
    if name in ("li", "dt", "dd"):
        return "\n" if match[0].startswith("</") else "\n- "
    if name in ("p", "br", "ul", "ol", "dl", "div", "hr", "blockquote"):
        return "\n\n"
    return ""
