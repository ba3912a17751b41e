"""The rules that files are checked against: our own, one file each in `rules/`, and a selection of ruff's.

In: a language, or a file's draft. Out: the rules that apply, or the findings in the file. Pages list the rules, so that
readers can tell what was checked from what was not.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import NamedTuple

from concordance.base import plugins
from concordance.base.model import Category, FileFacts, Finding, Kind, Rule, Severity, Symbol
from concordance.extract.reading.draft import Draft
from concordance.extract.reading.rule_context import RuleContext

# The ruff rules that are worth a line on a page, each with a reason in our own words.
#
# They were chosen by reading what they find in real repositories (`docs/findings.md`): of ruff's rules for security and
# performance, those that are right at least nine times out of ten. Where ruff is wrong too often, but resolving names
# tells real problems from false ones (pickle, shells, `exec`, YAML), we have our own rule in `rules/`. Ruff's rules do
# not apply to tests and benchmarks.


TOOL = "ruff"
_LANGUAGES = ("python",)
# Words that ruff's message must contain: C413 counts for `list` around `sorted`, a copy, but not for `reversed`.
REQUIRED_WORDS = {"C413": "`list()`"}


def _slow(rule: str, title: str, why: str, bad: str, good: str) -> Rule:
    return Rule(rule, title, "performance", Severity.INFO, why, bad, good, _LANGUAGES, TOOL, False)


def _unsafe(rule: str, title: str, why: str, bad: str, good: str) -> Rule:
    return Rule(rule, title, "security", Severity.WARNING, why, bad, good, _LANGUAGES, TOOL, False)


RUFF_RULES: tuple[Rule, ...] = (
    _slow(
        "PERF101", "List made only to be gone through",
        "The loop can go through the thing itself; the list is a copy of it that nobody needs.",
        "for x in list((1, 2, 3)): ...", "for x in (1, 2, 3): ...",
    ),
    _slow(
        "PERF102", "Pairs made where one half is used",
        "`.items()` makes a pair of each key and value. `.values()`, or the dictionary itself, makes none.",
        "for _, value in table.items():\n    use(value)", "for value in table.values():\n    use(value)",
    ),
    _slow(
        "PERF401", "List filled by a loop",
        "Each turn looks `append` up and calls it. A comprehension, or `extend` with a generator, does it in one step.",
        "for x in items:\n    if x.ok:\n        found.append(x.name)", "found = [x.name for x in items if x.ok]",
    ),
    _slow(
        "PERF402", "List copied element by element",
        "A loop that only appends copies what `list(...)` or `extend` copies at once.",
        "for x in items:\n    found.append(x)", "found.extend(items)",
    ),
    _slow(
        "PERF403", "Dictionary filled by a loop",
        "A comprehension, or `update`, fills it without a look-up and an assignment in each turn.",
        "for key, value in pairs:\n    table[key] = value", "table.update(pairs)",
    ),
    _slow(
        "C403", "List made to make a set",
        "The list is filled and thrown away. A set comprehension makes the set at once.",
        "set([f(x) for x in items])", "{f(x) for x in items}",
    ),
    _slow(
        "C404", "List made to make a dictionary",
        "The list of pairs is filled and thrown away. A dictionary comprehension makes the dictionary at once.",
        "dict([(x, f(x)) for x in items])", "{x: f(x) for x in items}",
    ),
    _slow(
        "C411", "List copied from a list just made",
        "The comprehension is a list already; `list(...)` around it makes another one of the same elements.",
        "list([f(x) for x in items])", "[f(x) for x in items]",
    ),
    _slow(
        "C413", "Sorted list copied",
        "`sorted` gives a new list; `list(...)` around it copies that once more.",
        "list(sorted(names))", "sorted(names)",
    ),
    _slow(
        "C414", "Copied before it is copied",
        "`sorted`, `set` and their like take anything that can be gone through; the list inside is a copy too many.",
        "sorted(list(names))", "sorted(names)",
    ),
    _slow(
        "C419", "All answers worked out before the first is looked at",
        "`any` and `all` stop at the first answer that decides. With a list inside, all answers are worked out first.",
        "any([test(x) for x in items])", "any(test(x) for x in items)",
    ),
    _slow(
        "FURB129", "Whole file read to go through its lines",
        "`readlines()` holds all lines in memory at once. The file itself gives one after the other.",
        "with open(path) as file:\n    for line in file.readlines(): ...",
        "with open(path) as file:\n    for line in file: ...",
    ),
    _slow(
        "FURB192", "Sorted to find the smallest or largest",
        "Sorting costs n log n and a copy. `min` and `max` look at each element once.",
        "sorted(names)[0]", "min(names)",
    ),
    _slow(
        "RUF015", "Whole list made for its first element",
        "`next(iter(...))` takes the first element and makes no list of the others.",
        "list(users)[0]", "next(iter(users))",
    ),
    _slow(
        "RUF017", "Lists joined by adding them up",
        "`sum` makes a new list for each addition and copies all that was there, so the cost grows with the square.",
        "sum(lists, [])", "list(itertools.chain.from_iterable(lists))",
    ),
    _slow(
        "ASYNC210", "Blocking request in an async function",
        "Nothing else runs on the event loop until the answer is there.",
        "async def get():\n    return requests.get(url)", "async def get():\n    return await client.get(url)",
    ),
    _slow(
        "ASYNC220", "Process started in an async function by a blocking call",
        "Nothing else runs on the event loop while the process is made.",
        "async def run():\n    subprocess.Popen(command)",
        "async def run():\n    await asyncio.create_subprocess_exec(*command)",
    ),
    _slow(
        "ASYNC221", "Process waited for in an async function by a blocking call",
        "Nothing else runs on the event loop until the process has ended.",
        "async def run():\n    subprocess.run(command)",
        "async def run():\n    await asyncio.create_subprocess_exec(*command)",
    ),
    _slow(
        "ASYNC222", "Process awaited by `os.wait` in an async function",
        "Nothing else runs on the event loop until the process has ended.",
        "async def run():\n    os.waitpid(child, 0)", "async def run():\n    await process.wait()",
    ),
    _slow(
        "ASYNC230", "File opened in an async function",
        "Nothing else runs on the event loop until the disk has answered.",
        "async def read():\n    return open(path).read()",
        "async def read():\n    return await asyncio.to_thread(path.read_text)",
    ),
    _slow(
        "ASYNC251", "`time.sleep` in an async function",
        "The whole event loop sleeps, not only this function.",
        "async def wait():\n    time.sleep(1)", "async def wait():\n    await asyncio.sleep(1)",
    ),
    _unsafe(
        "S113", "Request that may wait for ever",
        "Without a timeout a server that does not answer holds the program for as long as it likes.",
        "requests.get(url)", "requests.get(url, timeout=10)",
    ),
    _unsafe(
        "S201", "Web server with its debugger on",
        "Flask's debugger runs code for whoever can reach the page of an error.",
        "app.run(debug=True)", "app.run()",
    ),
    _unsafe(
        "S202", "Archive unpacked without a look at its names",
        "A member named `../../x`, or a link, is written outside of the folder. `filter='data'` refuses both.",
        "archive.extractall(folder)", "archive.extractall(folder, filter='data')",
    ),
    _unsafe(
        "S306", "Temporary file named before it is made",
        "Between the name and the file somebody else can make a file or a link of that name.",
        "path = tempfile.mktemp()", "handle, path = tempfile.mkstemp()",
    ),
    _unsafe(
        "S323", "Certificates of servers not checked",
        "The context accepts whoever answers, also one who sits in between.",
        "ssl._create_unverified_context()", "ssl.create_default_context()",
    ),
    _unsafe(
        "S501", "Certificate of a server not checked",
        "With `verify=False` whoever sits between here and the server can answer in its place.",
        "requests.get(url, verify=False)", "requests.get(url, verify='company.pem')",
    ),
    _unsafe(
        "S502", "Old protocol of encryption",
        "SSL 2, SSL 3 and TLS 1.0 can be broken by who listens.",
        "ssl.wrap_socket(ssl_version=ssl.PROTOCOL_SSLv3)", "ssl.create_default_context()",
    ),
    _unsafe(
        "S503", "Old protocol of encryption as a default",
        "SSL 2, SSL 3 and TLS 1.0 can be broken by who listens, and this is what callers get who do not ask.",
        "def connect(version=ssl.PROTOCOL_SSLv3): ...", "def connect(context=None): ...",
    ),
    _unsafe(
        "S505", "Key that is too short",
        "A key of this length can be worked out with what can be rented today.",
        "rsa.generate_private_key(65537, 1024)", "rsa.generate_private_key(65537, 3072)",
    ),
    _unsafe(
        "S507", "Unknown hosts trusted",
        "The key of a host that was never seen is taken as it comes, so whoever answers first is trusted.",
        "client.set_missing_host_key_policy(paramiko.AutoAddPolicy())",
        "client.set_missing_host_key_policy(paramiko.RejectPolicy())",
    ),
    _unsafe(
        "S508", "SNMP without encryption",
        "Versions 1 and 2c send the community, which is the password, in plain text.",
        "CommunityData('public', mpModel=0)", "UsmUserData(user, key)",
    ),
    _unsafe(
        "S509", "SNMP without authentication or privacy",
        "Whoever listens reads the messages, and whoever sends can make them up.",
        "UsmUserData(user)", "UsmUserData(user, key, privacy_key)",
    ),
)  # fmt: skip


# Our own rules.


PACKAGE = "concordance.extract.rules"
OWN_TOOL = "Concordance"
MAX_COLUMN = 2000
TEST_CATEGORIES = frozenset((Category.TEST, Category.BENCHMARK))
_AROUND = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY, Kind.CLASS, Kind.STRUCT))


# Comments by which authors mark a line of Python as reviewed, for any tool.
_SILENCED = {
    "security": re.compile(r"#\s*(?:noqa(?!\s*:)|nosec\b|noqa:[^#]*\bS\d)"),
    "performance": re.compile(r"#\s*(?:noqa(?!\s*:)|noqa:[^#]*\bPERF\d)"),
}


class RuleTable(NamedTuple):
    """The rules for one language, by the names and words that trigger them."""

    names: dict[str, tuple[ModuleType, ...]]
    words: tuple[tuple[bytes, ModuleType], ...]


@cache
def rules() -> Mapping[str, Rule]:
    """Return every rule by its id: ours first, then ruff's."""
    own = {module.ID: _rule(module) for module in plugins.every(PACKAGE)}
    return {**dict(sorted(own.items())), **{rule.id: rule for rule in RUFF_RULES}}


def rules_for(language: str, category: str = "") -> list[Rule]:
    """Return the rules that apply to files of a language; fewer for tests and benchmarks."""
    asked = (rule for rule in rules().values() if not rule.languages or language in rule.languages)
    return [rule for rule in asked if rule.tests or category not in TEST_CATEGORIES]


def _rule(module: ModuleType) -> Rule:
    return Rule(
        module.ID, module.TITLE, module.CATEGORY, module.SEVERITY, module.WHY, module.BAD, module.GOOD,
        module.LANGUAGES, OWN_TOOL, module.TESTS,
    )  # fmt: skip


@cache
def _table(language: str) -> RuleTable:
    names: dict[str, list[ModuleType]] = {}
    words: list[tuple[bytes, ModuleType]] = []
    for module in plugins.every(PACKAGE):
        if module.LANGUAGES and language not in module.LANGUAGES:
            continue
        for name in getattr(module, "NAMES", ()):
            names.setdefault(name, []).append(module)
        words += [(word, module) for word in getattr(module, "WORDS", ())]
    return RuleTable({name: tuple(modules) for name, modules in names.items()}, tuple(words))


def findings(draft: Draft, facts: FileFacts) -> tuple[Finding, ...]:
    """Return the findings of our rules in a file."""
    table = _table(draft.source.language)
    data = draft.source.data
    asked = {module: None for name in table.names.keys() & facts.occurrences.names for module in table.names[name]}
    asked.update((module, None) for word, module in table.words if word in data)
    if not asked:
        return ()
    look = RuleContext(draft, facts.imports)
    return tuple(sorted({row for module in asked for row in _rule_matches(look, module, facts.symbols)}, key=_place))


def _rule_matches(look: RuleContext, module: ModuleType, symbols: tuple[Symbol, ...]) -> Iterator[Finding]:
    source = look.source
    silenced = _SILENCED.get(module.CATEGORY) if source.language == "python" else None
    for start, end, message, severity in module.find(look):
        line, col = source.position(start)
        if col > MAX_COLUMN:  # a minified or generated file: nobody could find or fix the place
            continue
        if silenced is not None and silenced.search(source.line_text(line)):
            continue
        last = source.line(max(start, end - 1))
        yield Finding(
            module.ID, severity or module.SEVERITY, message, line, col, last, enclosing_key(symbols, line), module.TESTS
        )


def enclosing_key(symbols: tuple[Symbol, ...], line: int) -> str:
    """Return the key of the innermost function or class around a line, "" if there is none."""
    place = bisect_right(symbols, line, key=lambda s: s.start_line) - 1
    while place >= 0:
        one = symbols[place]
        if one.end_line >= line and one.kind in _AROUND:
            return one.key
        place = one.parent
    return ""


def _place(finding: Finding) -> tuple[int, int, str]:
    return finding.line, finding.col, finding.by
