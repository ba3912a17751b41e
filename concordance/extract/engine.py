"""The entry point of extraction: run a file's language reader, then add what every language shares.

In: a file's text and its language. Out: `FileFacts`, always. If a reader raises, its file loses the facts that the
reader was to provide and gets a finding instead; the build continues. A plug-in that cannot be used at all ends it.
"""

from __future__ import annotations

import re
from itertools import accumulate, chain

from concordance.base import plugins
from concordance.base.errors import BrokenPlugin
from concordance.base.model import TYPE_KINDS, FileFacts, Finding, Kind, Metrics, Severity, is_overload
from concordance.extract import bridges
from concordance.extract.cfamily.macros import Macros
from concordance.extract.documents.comments import Comments
from concordance.extract.patterns import find_patterns
from concordance.extract.reading import rule_findings
from concordance.extract.reading.draft import Definition, Draft
from concordance.extract.reading.pattern_context import PatternContext
from concordance.extract.registry import LANGUAGES, readers
from concordance.extract.text import terms
from concordance.extract.text.repetition import Repetition, without_repetition
from concordance.extract.text.source_text import Source

# Querying a syntax tree costs the square of its depth. Code written by people stays far below this.
DEEPEST = 3000
# In characters. Grammars create one node per blank inside a literal, and queries over that many nodes are slow.
_LONGEST_LINE = 100_000
_BLANKS = " " * 16  # a run of spaces that no real name contains
_BRACKETS = bytes(c in b"([{" for c in range(256))
_NO_BRACKETS = bytes(c for c in range(256) if c not in b"()[]{}")
_STEP = (-1, 1)

# Comments do not document these kinds: a comment above a heading or a label is not about it.
_UNDOCUMENTED = frozenset((Kind.HEADING, Kind.LABEL))
_SMALL_KINDS = frozenset(
    (Kind.FIELD, Kind.VARIABLE, Kind.CONSTANT, Kind.ENUMERATOR, Kind.MACRO, Kind.TYPE, Kind.FUNCTION)
)
_WHOLE = TYPE_KINDS | {Kind.FUNCTION, Kind.METHOD}
_VALUES = frozenset((Kind.VARIABLE, Kind.CONSTANT))
# A comment above an assignment that begins with such a verb says what is done there, not what the variable is.
_SAYS_STEP = re.compile(
    r"(?:add|adjust|apply|assign|build|calculate|check|choose|clean|collect|compute|configure|convert|copy|create|"
    r"decide|detect|determine|download|enable|ensure|extract|fetch|figure out|filter|find|first|generate|get|grab|"
    r"import|initiali[sz]e|install|load|make|now|override|parse|pass|prepare|pull|push|read|remove|replace|run|save|"
    r"set|setup|sort|start|store|strip|then|try|update|upload|use|verify|we|write)\b"
    r"(?! (?:of|from|time|file|name|path)\b)",
    re.I,
)
_OF_ONE = re.compile(r"(?:an?|the|whether|true|number|name|if|this)\b", re.I)
_TITLE_KEYS = ("name", "version", "$schema")  # a comment above these, at the top of a file, is about the file


def extract(text: str, language: str, macros: Macros | None = None) -> FileFacts:
    """Return all facts that follow from a file's text and, for languages with macros, from the repository's macros."""
    parsed = language in readers() and language != "text"
    whole = text
    text, stretches = without_repetition(whole) if parsed else (whole, [])
    source = Source(text, language)
    endless = any(end - start > _LONGEST_LINE and "\n" not in text[start:end] for start, end in stretches)
    facts = _as_text(source) if endless else _read(source, macros, bool(stretches))
    if not stretches:
        return facts
    unread = (_repetition_finding(source, stretch) for stretch in stretches)
    blank, counted = sum(not line.strip() for line in whole.encode("utf-8", "replace").splitlines()), facts.metrics
    metrics = counted._replace(blank=blank, code=counted.code + counted.blank - blank)
    return facts._replace(findings=(*facts.findings, *unread), metrics=metrics)


def _repetition_finding(source: Source, stretch: Repetition) -> Finding:
    """Return the finding that reports a repetitive stretch as not read."""
    ends = [source.line(source.byte(at)) for at in (stretch.start, stretch.end - 1)]
    size = stretch.end - stretch.start
    return Finding("syntax", Severity.ERROR, f"{size:,} characters of repetitive text: not read", ends[0], 1, ends[1])


def _names_blanks(draft: Draft) -> bool:
    """True if blanking damaged a defined or imported name, so that it differs from the file's text."""
    names = (definition.name for definition in draft.definitions)
    imported = (text for _, row in draft.imports for text in (row.module, row.name, row.alias))
    return any(_BLANKS in text for text in chain(names, imported))


def _read(source: Source, macros: Macros | None, blanked: bool) -> FileFacts:
    if bracket_depth(source.data) > DEEPEST:
        finding = Finding("syntax", Severity.ERROR, f"brackets are nested more than {DEEPEST:,} deep: read as text", 1)
        facts = _as_text(source)
        return facts._replace(findings=(*facts.findings, finding))
    try:
        reader = plugins.load(LANGUAGES, source.language if source.language in readers() else "text")
        draft = reader.read(source, macros) if reader.LANGUAGE.has_macros else reader.read(source)
        return _as_text(source) if blanked and _names_blanks(draft) else _complete(source, draft)
    except BrokenPlugin:
        raise
    except Exception as error:
        message = f"the {source.language} reader failed: {type(error).__name__}: {error}"
        finding = Finding("reader", Severity.ERROR, message, 1)
        return FileFacts(findings=(finding,), metrics=_metrics(source, Comments(source, []), Draft(source)))


def _as_text(source: Source) -> FileFacts:
    """Return the facts of a file read as plain text, for files whose structure cannot be parsed."""
    return _complete(source, plugins.load(LANGUAGES, "text").read(source))


def bracket_depth(data: bytes) -> int:
    """Return roughly how deep brackets nest, including those in comments and strings; 0 if there are only a few."""
    brackets = data.translate(_BRACKETS, _NO_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets))) if len(brackets) > DEEPEST else 0


def _complete(source: Source, draft: Draft) -> FileFacts:
    comments = Comments(source, draft.comments)
    _attach_comments(source, draft, comments)
    facts = draft.facts()
    context = PatternContext(draft, facts)
    for by, failed, add in _ADDITIONS:
        try:
            facts = add(context, facts)
        except BrokenPlugin:
            raise
        except Exception as error:  # the file loses what this step adds, and nothing else
            finding = Finding(by, Severity.ERROR, f"{failed}: {type(error).__name__}: {error}", 1)
            facts = facts._replace(findings=(*facts.findings, finding))
    return facts._replace(
        terms=terms.extract_terms(facts, comments.texts(), draft.prose), metrics=_metrics(source, comments, draft)
    )


def _with_findings(context: PatternContext, facts: FileFacts) -> FileFacts:
    return facts._replace(findings=(*facts.findings, *rule_findings.findings(context)))


def _with_bridge_ends(context: PatternContext, facts: FileFacts) -> FileFacts:
    return facts._replace(ends=bridges.find_bridge_ends(context))


def _with_patterns(context: PatternContext, facts: FileFacts) -> FileFacts:
    return facts._replace(patterns=find_patterns(context))


# What plug-ins add to a file's facts: who reports a failure, in which words, and the function that adds it.
_ADDITIONS = (
    ("rules", "the rules failed", _with_findings),
    ("bridges", "the ends of bridges were not read", _with_bridge_ends),
    ("patterns", "the patterns were not read", _with_patterns),
)


def _attach_comments(source: Source, draft: Draft, comments: Comments) -> None:
    """Attach comments to the definitions, or the file, that they document."""
    defined: set[int] = set()
    ordered = sorted(draft.definitions, key=lambda d: (d.start, -d.end))
    groups = _group_starts(source, ordered, comments)
    for number, definition in enumerate(ordered):
        line = source.line(definition.start)
        if line in groups or (number == 0 and definition.kind == Kind.KEY and definition.name in _TITLE_KEYS):
            continue
        if not (definition.doc or definition.kind in _UNDOCUMENTED or is_overload(definition.modifiers)):
            # The comment above a line documents the first definition that starts on it.
            above = comments.above(line) if line not in defined else ""
            if definition.kind in _VALUES and not comments.is_marked(line) and _SAYS_STEP.match(above):
                above = ""
            if above and "\n" not in above and definition.kind in TYPE_KINDS:
                above = "\n\n".join(filter(None, (comments.apart(line, definition.name), above)))
            if not above and line not in defined and definition.kind in _WHOLE:
                # Above the first definition, a comment that names it is more likely about the file.
                above, below = comments.block_apart(line, definition.name if defined else "")
                defined.update((below,) if above else ())
            definition.doc = above or comments.beside(source.line(definition.at))
        if definition.kind not in (Kind.NAMESPACE, Kind.MODULE):
            defined.add(line)
    if not draft.doc:
        draft.doc = comments.leading(defined)


def _group_starts(source: Source, ordered: list[Definition], comments: Comments) -> set[int]:
    """Return the lines of definitions whose comment is the title of several: two more follow on the next lines.

    A comment that is marked as documentation (`/**`), or is a whole sentence, is about the definition below it.
    """
    single: set[int] = set()
    for definition in ordered:
        line = source.line(definition.start)
        if definition.kind in _SMALL_KINDS and source.line(max(definition.start, definition.end - 1)) == line:
            single.add(line)
    runs = [line for line in single if {line + 1, line + 2} <= single]
    return {line for line in runs if _is_title(comments.above(line)) and not comments.is_marked(line)}


def _is_title(words: str) -> bool:
    """True if words are the title of several things, not a sentence and not `the …`, `a …`, which speak of one."""
    return bool(words) and not words.endswith((".", "!", "?")) and not _OF_ONE.match(words)


def _metrics(source: Source, comments: Comments, draft: Draft) -> Metrics:
    lines = source.data.splitlines()
    blank = [*map(bytes.strip, lines)].count(b"")
    covered: set[int] = set()
    for at, (first, last) in enumerate(zip(comments.starts, comments.ends, strict=True)):
        if comments.stands_alone(at):
            covered.update(range(first, last + 1))
        else:
            covered.update(range(first + 1, last + 1))
    comment = sum(1 for line in covered if line <= len(lines) and lines[line - 1].strip())
    total = source.line_count
    return Metrics(total, total - blank - comment, comment, blank, draft.blanked_bytes, draft.error_bytes)
