"""Extracts the first sentence of a documentation comment as plain text.

In: a docstring or the text of a comment. Out: its first sentence without markup, "" if it contains no description but
only a licence, editor settings, a ruler, a signature or a to-do note. Titles, signatures and commands before the first
sentence are skipped. A sentence does not end after an abbreviation or inside of code or brackets.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from concordance.base.kinds import DocMarkup
from concordance.extract.documents.docstrings import UNDERLINE, WORD_BEFORE, opens_fence
from concordance.extract.documents.legal_text import without_licence
from concordance.extract.registry import language_of
from concordance.query.markup.doxygen import member_text

_BLANK = re.compile(r"\n[ \t]*\n")
_RULER = re.compile(r"\W{3,}|(?:[-=*#~_+.^]\s*){3,}")
_TO_TOOLS = re.compile(
    r"-\*-|vim?:|.{0,12}\bcoding[:=]|\$\w+:.*\$$|#!|/?usr/bin/|pylint:|flake8|mypy:|ruff:|noqa|NOLINT|clang-format|eslint|"
    r"type: ignore|@(?:ts-|flow|jsx|format|generated\b|nolint|oncall)|IWYU|prettier|isort:|fmt:|@\(\#\)|"
    r"globals? \w+(?:,|$)|<(?:reference|amd-\w+) ",
    re.I,
)
_SAYS_NOTHING = re.compile(
    r"(?:todo|fixme|xxx|tbd)\b|n/?a\b|this file is part of\b|"
    r"(?:created|written|modified|updated) (?:on|by|at)\b|(?:authors?|date|e-?mail|"
    r"maintainers?|version|file ?name|file|owners?(?:\(s\))?)\s*:|\S+\.(?:py|h|hpp|c|cc|cpp|cu|cuh|js|ts|go|rs|java|"
    r"sh|md|rst)"
    r"\.?$|do not (?:edit|modify)|please do not edit|https?://\S+$",
    re.I,
)
GENERATED = re.compile(  # tells where a file comes from
    r"\b(?:auto-?)?generated(?: \w+){0,3} (?:by|from|with|using|via)\b|(?:auto-?|automatically )generated\b", re.I
)
_PATH = re.compile(r"[\w+.-]+(?:/[\w+.-]+)+[,;]?|[\w+-]+\.(?:h|hpp|c|cc|cpp|py|js|ts|go|rs|java|md)[,;]?")
_NOTE_TITLE = re.compile(r"\[?note:? ?\[.*\]?\Z|see note\b|\[[^\[\]]+\]\Z", re.I)
_LABEL = re.compile(
    r"(?:note|nb|notice|warning|description|purpose|summary|overview)\s*:+\s*(?=\S)|returns?:\s+(?=\S)", re.I
)
_FILE_NAME = re.compile(
    r"[\w./-]*\w\.(?:py|pyi|h|hpp|c|cc|cpp|cu|cuh|js|ts|go|rs|java|sh|md|rst|S|inc)(?:\s*(?:--?|:|–|—)\s+|\s*$)"
)
_STOP = re.compile(
    r"[-*+•] +\S|\d{1,3}[.)] +\S|>>>|```|~~~|\.\. |:(?:param|type|returns?|rtype|raises?|arg|ivar|var|keyword)\b|"
    r"(?:args|arguments|parameters|params|returns?|raises|yields|attributes|examples?|usage|notes?|keyword arg\w*|"
    r"see also|context)\s*::?\s*$|[|+][-=|+ ]{3}|@[\w.]+:|(?:returns?|context|notes?|nb|examples?|warning|todo|"
    r"fixme|xxx):\s",
    re.I,
)
_UNFINISHED = re.compile(r"(?<![\w-])(?:that|which|the|an?|of|to|are|is|and|or|for|with|by|in|from|either)\Z", re.I)
# How a sentence begins, if the line above it lacks its full stop.
_BEGINS = re.compile(r"(?:The|This|These|It|If|When|There|Otherwise|Even|However|Also|But|We|You|Note)\b(?![:\[])")
_TO_DO = re.compile(r"(?:TODO|FIXME|XXX|HACK|TBD)\b|(?i:todo|fixme|hack)\s*:")
_STOP_COMMAND = re.compile(
    r"[@\\](?:param|returns?|tparam|throws?|exception|see|sa|code|note|warning|todo|since|deprecated|author|version|"
    r"example|type|template|property|retval|pre|post|verbatim|li|par|section|callback|default)\b"
)
_BRIEF = re.compile(
    r"[@\\](?:brief|short|summary|desc|description|details?|fileoverview|overview|abstract|rst|rststar)\b:?\s*", re.I
)
_PLACES = re.compile(
    # A type is given by up to three words; more are the description.
    r"[@\\](?:class|struct|union|enum|interface)[ \t]+(?=(?:\S+[ \t]+){3}\S)|"
    r"[@\\](?:file|class|struct|union|fn|def|var|ingroup|addtogroup|defgroup|namespace|module|package|name|internal|typedef|"
    r"enum|interface|constructor|function|private|public|static|export|memberof|cond|endcond|\{|\})(?![a-z])[^\n]*"
)
_BULLET = re.compile(r"[-*] +\S")
_SIGNATURE = re.compile(r"[A-Za-z_][\w.]*\(")
_KERNEL = re.compile(
    r"(?:(?:struct|union|enum|typedef|define|const|macro|function)\s+)?[\w.]+(?:\(\S*\))?\s+(?:--?|–|—)\s+(?=\S)"
)

_TOKEN = re.compile(
    r"(?P<ticks>`{1,30})(?P<code>.+?)(?P=ticks)(?!`)(?P<under>__?\b)?|:[\w+.-]+(?::[\w+.-]+)*:`(?P<role>[^`]+)`|"
    r"!?\[(?P<shown>[^\[\]]+)\](?:\([^()\s]*\)|\[[^\[\]]*\])|\[(?P<foot>\#?\w+)\]_(?!\w)|"
    r"\{@\w+\s+(?P<javadoc>[^{}]*)\}|[@\\]f\$(?P<math>.+?)[@\\]f\$|[@\\](?:p|c|a|e|em|b|ref|link)\s+(?P<word>[^\s,;]+?)(?=[.,;:)]*(?:\s|$))|"
    r"\*\*(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*\*|(?<![\w*])\*(?P<light>[^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])|"
    r"\\(?P<escape>[*_`|\\ ])",
    re.S,
)
_TITLED = re.compile(r"(.+?)(?<!\s)\s*+<[^<>]++>", re.S)
_TAG = re.compile(r"</?(?:b|i|em|strong|code|tt|a|span|u|var|kbd)\b[^<>]*>", re.I)
_BLOCK_TAG = re.compile(r"(?<!\s)\s*+</?(?:p|br|ul|ol|li|pre|div|h\d|table|dl)\b[^<>]*>\s*", re.I)
_LOOSE = re.compile(r" +(?=[.,;](?:\s|$))")
_CODE_PLACEHOLDER = re.compile(r"\0(\d+)\0")
_END = re.compile(r"[(\[{]|[)\]}]|(?<!\.)\.{2,}+(?=[\"')\]]*(?:\s|$))|[.!?][\"')\]”’]*(?=\s|$)|[。！？]")
_MAX_PARAGRAPH = 4000  # characters of a paragraph that are searched for the end of a sentence
_ABBREVIATIONS = frozenset(
    ("e.g", "eg", "i.e", "ie", "cf", "vs", "resp", "approx", "fig", "figs", "eq", "eqs", "sec", "dr", "mr", "mrs", "ms",
     "prof", "vol", "pp", "w.r.t", "a.k.a", "incl", "excl", "viz", "ca", "ref", "refs", "st", "ch", "para", "dept",
     "est",
     "max", "min", "msg", "num", "intl", "esp", "spec", "opt", "req")
)  # fmt: skip
_SOMETIMES_LAST = frozenset(
    ("etc", "inc", "ltd", "corp", "al", "no", "co", "max", "min", "spec", "opt", "msg", "num", "req", "ref", "refs")
)


def first_sentence(doc: str, language: str, name: str = "") -> str:
    """Return the first sentence of a comment as plain text; "" if it says nothing, or only repeats the name."""
    title = ""
    if doc.startswith("@") and DocMarkup.MEMBERS in language_of(language).doc_markup:
        doc = member_text(doc)
    for paragraph in _paragraphs(without_licence(doc[:_MAX_COMMENT])):
        behind, heading = _without_title(paragraph)
        title = title or heading
        lines = _without_signature(behind, language)
        if not lines:
            continue
        words = _words(lines, language)
        if words is None:
            break
        sentence = _sentence(words, name)
        if sentence:
            return sentence
    return _sentence(title, name) if title else ""


_BOLD = re.compile(r"(\*\*|__)(?=\S)[^*_]+(?<=\S)\1:?")  # a line in bold type stands for a heading
_PICTURES = re.compile(r"(?:\|[\w .-]+\|_{0,2}\s*)+\Z")  # reStructuredText: `|PyPI| |License|`, a row of badges
_MAX_COMMENT = 8000  # characters of a comment that are searched for a first sentence


def _paragraphs(doc: str) -> Iterator[list[str]]:
    """Yield the paragraphs that may contain prose, their lines stripped, without directives, code and tool settings."""
    fence, deeper = "", -1
    for paragraph in _BLANK.split(doc.expandtabs(4)):
        kept: list[str] = []
        lines = paragraph.split("\n")
        for place, line in enumerate(lines):
            text = line.strip()
            indent = len(line) - len(line.lstrip())
            if fence:
                fence = "" if text.startswith(fence) else fence
            elif opens_fence(text, kept[-1] if kept else ""):
                fence = text[:3]
                kept.append("```")
            elif deeper >= 0 and (indent > deeper or not text):
                continue
            elif text.startswith(".. ") or text == ".." or (kept and _is_title_of_example(lines, place)):
                deeper = indent
            elif text and not any(rule.match(text) for rule in (_TO_TOOLS, _LINK_DEFINITION, _PICTURES)):
                deeper = -1
                kept.append(text)
        while kept and (_RULER.fullmatch(kept[0]) and not (len(kept) > 2 and kept[0] == kept[2])):
            kept = kept[1:]
        if kept:
            yield kept


def _is_title_of_example(lines: list[str], place: int) -> bool:
    """True if a line ends with a colon, and the next one is indented deeper."""
    first, second = (len(line) - len(line.lstrip()) for line in (*lines[place : place + 2], "")[:2])
    return lines[place].rstrip().endswith(":") and second > first


def _without_title(lines: list[str]) -> tuple[list[str], str]:
    """Return a paragraph without its title, and the title."""
    if len(lines) > 2 and UNDERLINE.fullmatch(lines[0]) and UNDERLINE.fullmatch(lines[2]):
        return lines[3:], lines[1]
    if len(lines) > 1 and UNDERLINE.fullmatch(lines[1]):
        return lines[2:], lines[0]
    if len(lines) > 1 and (title := _BOLD_LINE.fullmatch(lines[0])):
        return lines[1:], title[2]
    if re.match(r"#{1,6} \S", lines[0]):
        return lines[1:], lines[0].strip("# ")
    if len(lines) > 1 and _BOLD.fullmatch(lines[0]):
        return lines[1:], lines[0].strip("*_ ")
    return lines, ""


def _without_signature(lines: list[str], language: str) -> list[str]:
    """Return a paragraph without a leading signature, command, file name or kernel-doc name."""
    while lines and (_PLACES.fullmatch(lines[0]) or UNDERLINE.fullmatch(lines[0])):
        lines = lines[1:]
    if not lines:
        return lines
    lines = [_BRIEF.sub("", lines[0], count=1) if lines[0][0] in "@\\" else lines[0], *lines[1:]]
    if (named := _FILE_NAME.match(lines[0])) is not None:
        return [lines[0][named.end() :], *lines[1:]] if named.end() < len(lines[0]) else lines[1:]
    if DocMarkup.MEMBERS in language_of(language).doc_markup and (kernel := _KERNEL.match(lines[0])):
        return [lines[0][kernel.end() :], *lines[1:]]
    if _BULLET.match(lines[0]) and not any(_BULLET.match(line) for line in lines[1:]):
        lines = [lines[0][2:].lstrip(), *lines[1:]]  # CMake modules open their comments with a bullet
    return _behind_signature(lines) if _SIGNATURE.match(lines[0]) else [line for line in lines if line]


def _behind_signature(lines: list[str]) -> list[str]:
    """Return a paragraph without the signature that it seems to open with."""
    depth = 0
    for number, line in enumerate(lines[:20]):
        for match in re.finditer(r"[()\[\]]", line):
            depth += 1 if match[0] in "([" else -1
            if depth == 0:
                rest = line[match.end() :].strip()
                if not rest or rest == ":" or (rest.startswith("->") and not rest.endswith(".")):
                    return lines[number + 1 :]
                return [rest[2:].strip(), *lines[number + 1 :]] if rest.startswith("-- ") else lines
    return lines


def _are_apart(lines: list[str]) -> bool:
    """True if each line says something of its own: all begin with a capital letter, none but the last ends with a stop,
    and the first was not full."""
    if len(lines) < 3 or not all(line[:1].isupper() for line in lines) or any(map(_ends_part, lines[:-1])):
        return False
    return len(lines[0]) + 1 + len(lines[1].partition(" ")[0]) <= max(map(len, lines))


def _ends_part(line: str) -> bool:
    return line.endswith((".", ",", ":", ";", "-", "!", "?"))


def _words(lines: list[str], language: str) -> str | None:
    """Return the prose that a paragraph opens with; None if it opens with something that ends the search."""
    kept: list[str] = []
    if _TO_DO.match(lines[0]):
        return ""
    if label := _LABEL.match(lines[0]):
        returns = "Returns " if label[0].lower().startswith("return") else ""
        lines = [returns + lines[0][label.end() :], *lines[1:]]
    lines = lines[:1] if _are_apart(lines) else lines
    for line in lines:
        if kept and _BEGINS.match(line) and re.search(r"\w\Z", kept[-1]) and not _UNFINISHED.search(kept[-1]):
            break
        if _STOP.match(line) or (line[0] in "@\\" and _STOP_COMMAND.match(line)):
            if not kept:
                return None
            if _BULLET.match(line) and _UNFINISHED.search(kept[-1]):
                return ""  # a list ends the sentence
            break
        kept.append(line)
        if line.endswith("::"):
            break
    text = "\n".join(kept)
    if "<" not in text or language in ("python", "rst"):
        return text
    opened = _BLOCK_TAG.sub(" ", text, count=1) if _BLOCK_TAG.match(text) else text
    end = _BLOCK_TAG.search(opened)
    return _TAG.sub("", opened[: end.start()] if end else opened)


def _sentence(text: str, name: str) -> str:
    """Return the first sentence of a text that says something, "" if there is none."""
    text, replaced = text[:_MAX_PARAGRAPH], list[str]()
    plain = _LOOSE.sub("", " ".join(_TOKEN.sub(lambda match: _without_markup(match, replaced), text).split()))
    while plain:
        end = _sentence_end(plain)
        sentence, plain = plain[:end], plain[end:].lstrip()
        shown = (
            _CODE_PLACEHOLDER.sub(lambda match: replaced[int(match[1])], sentence)
            .replace("\0", "")
            .strip()
            .rstrip(":")
            .rstrip()
        )
        if shown and not _says_nothing(shown, _letters(name)):
            return html.unescape(shown) if _ENTITY.search(shown) else shown
    return ""


_BOLD_LINE = re.compile(r"(\*\*|__)([^*_]+[^*_.!?:])\1:?")
_LINK_DEFINITION = re.compile(r"\[[^\[\]]+\]: +\S+$")
_ENTITY = re.compile(r"&(?:#\d{1,6}|#x[\da-fA-F]{1,6}|lt|gt|amp|quot|nbsp|apos|mdash|ndash|hellip);")


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _says_nothing(sentence: str, name: str) -> bool:
    """True if a sentence is only a name, or is addressed to people who edit the file."""
    letters = _letters(sentence)
    if not any(c.isalpha() for c in letters) or letters == name or _NOTE_TITLE.match(sentence):
        return True
    if _SAYS_NOTHING.match(sentence) and GENERATED.search(sentence) is None:
        return True
    words = sentence.split()
    if len(words) > 1 and all(_PATH.fullmatch(word) for word in words):  # a list of paths
        return True
    if " " in sentence or not sentence.isascii() or (sentence[-1] in ".!" and re.fullmatch(r"[A-Za-z-]+.", sentence)):
        return False
    return re.fullmatch(r"[A-Z][a-z]{3,}", sentence) is None or letters in name


def _without_markup(match: re.Match[str], code_spans: list[str]) -> str:
    """Return a token without its markup. Code is put in `code_spans`, so that no sentence ends in it."""
    group = match.lastgroup
    if group == "foot":
        return ""
    if group == "escape":
        return match["escape"].strip()
    if group in ("strong", "light", "shown"):
        return (match["strong"] or match["light"] or match["shown"]).replace("`", "")
    inside = match["code"] or match["role"] or match["javadoc"] or match["math"] or match["word"] or ""
    if match["role"] or match["under"]:
        titled = _TITLED.fullmatch(inside)
        inside = titled[1] if titled else inside
        inside = inside.rpartition(".")[2] if inside.startswith("~") else inside.lstrip("!.")
        if match["role"] and match[0].startswith((":pep:", ":rfc:")):
            inside = f"{match[0][1:4].upper()} {inside}"
    if match["javadoc"]:
        target, _, label = inside.strip().partition(" ")
        inside = label.strip() or target.strip("#").replace("#", ".")
    code_spans.append(" ".join(inside.split()))
    return f"\0{len(code_spans) - 1}\0"


def _sentence_end(text: str) -> int:
    """Return the position where the first sentence ends."""
    balanced = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    depth = 0
    for match in _END.finditer(text):
        sign = match[0]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth > 0 and balanced and not (depth == 1 and sign[-1] in ")]"):
            depth -= len(sign) - len(sign.rstrip(")]")) if sign[-1] in ")]" else 0
        elif _is_sentence_end(text, match):
            return match.end()
        else:
            depth -= sum(sign.count(close) for close in ")]")
    return len(text)


def _is_sentence_end(text: str, match: re.Match[str]) -> bool:
    """True if a full stop ends a sentence, rather than an abbreviation."""
    rest = text[match.end() : match.end() + 2].lstrip()
    if not rest or match[0][0] in "!?。！？":
        return True
    if match[0].startswith(".."):
        return rest[0].isupper()
    if match.start() and text[match.start() - 1] in "'\"‘“" and match[0][-1] in "'\"":
        return False  # a full stop that is itself quoted
    before = WORD_BEFORE.search(text, max(0, match.start() - 40), match.start())
    if before is None:
        return not text[: match.start()].isdigit()
    word = before[0].lower()
    if word in _SOMETIMES_LAST:
        return rest[0].isupper()
    return not (word in _ABBREVIATIONS or (len(word) == 1 and before[0].isupper() and match.start() > 1))
