"""The rules that files are checked against: our own, one file each in `rules/`, and a selection of ruff's.

In: a language. Out: the rules that apply to it. Pages list the rules, so that readers can tell what was checked from
what was not. `rule_findings` applies our own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import cache
from types import ModuleType

from concordance.base import plugins
from concordance.base.errors import BrokenPlugin
from concordance.base.model import Category, Kind, Rule, Severity, Symbol

# The ruff rules that are worth a line on a page, each with a reason in our own words.
#
# They were chosen by reading what they find in real repositories (`docs/findings.md`): of ruff's rules for security and
# performance, those that are right at least nine times out of ten. Where ruff is wrong too often, but resolving names
# tells real problems from false ones (pickle, shells, `exec`, YAML), we have our own rule in `rules/`. Ruff's rules do
# not apply to tests and benchmarks.


TOOL = "ruff"
_LANGUAGES = ("python",)
# Words that ruff's message must contain: C413 counts for `list` around `sorted`, a copy, but not for `reversed`.
CATEGORIES = ("performance", "security")  # the sections of a page that show findings
REQUIRED_WORDS = {"C413": "`list()`"}


def _slow(rule: str, title: str, why: str, bad: str, good: str) -> Rule:
    return Rule(rule, title, "performance", Severity.INFO, why, bad, good, _LANGUAGES, TOOL, False)


def _unsafe(rule: str, title: str, why: str, bad: str, good: str) -> Rule:
    return Rule(rule, title, "security", Severity.WARNING, why, bad, good, _LANGUAGES, TOOL, False)


RUFF_RULES: tuple[Rule, ...] = (
    _slow(
        "PERF101", "Unnecessary `list()` around an iterable",
        "A loop can iterate over the original directly; the list is an unnecessary copy.",
        "for x in list((1, 2, 3)): ...", "for x in (1, 2, 3): ...",
    ),
    _slow(
        "PERF102", "`.items()` where only keys or values are used",
        "`.items()` creates a tuple for each key and value. `.values()`, or the dictionary itself, creates none.",
        "for _, value in table.items():\n    use(value)", "for value in table.values():\n    use(value)",
    ),
    _slow(
        "PERF401", "List filled by a loop",
        "Each iteration looks up and calls `append`. A comprehension, or `extend` with a generator, avoids this.",
        "for x in items:\n    if x.ok:\n        found.append(x.name)", "found = [x.name for x in items if x.ok]",
    ),
    _slow(
        "PERF402", "List copied element by element",
        "A loop that only appends can be replaced by `list(...)` or `extend`, which copies in one step.",
        "for x in items:\n    found.append(x)", "found.extend(items)",
    ),
    _slow(
        "PERF403", "Dictionary filled by a loop",
        "A comprehension, or `update`, fills the dictionary without running an assignment in each iteration.",
        "for key, value in pairs:\n    table[key] = value", "table.update(pairs)",
    ),
    _slow(
        "C403", "Unnecessary list comprehension in `set()`",
        "The list is built and thrown away. A set comprehension builds the set directly.",
        "set([f(x) for x in items])", "{f(x) for x in items}",
    ),
    _slow(
        "C404", "Unnecessary list comprehension in `dict()`",
        "The list of pairs is built and thrown away. A dictionary comprehension builds the dictionary directly.",
        "dict([(x, f(x)) for x in items])", "{x: f(x) for x in items}",
    ),
    _slow(
        "C411", "Unnecessary `list()` around a list comprehension",
        "The comprehension is already a list; `list(...)` around it creates a copy.",
        "list([f(x) for x in items])", "[f(x) for x in items]",
    ),
    _slow(
        "C413", "Unnecessary `list()` around `sorted()`",
        "`sorted` returns a new list; `list(...)` around it copies it again.",
        "list(sorted(names))", "sorted(names)",
    ),
    _slow(
        "C414", "Unnecessary copy inside `sorted()`, `set()` or a similar call",
        "`sorted`, `set` and similar functions accept any iterable; the list inside is an unnecessary copy.",
        "sorted(list(names))", "sorted(names)",
    ),
    _slow(
        "C419", "Unnecessary list comprehension in `any()` or `all()`",
        "`any` and `all` stop at the first element that decides the result. A list inside computes all elements first.",
        "any([test(x) for x in items])", "any(test(x) for x in items)",
    ),
    _slow(
        "FURB129", "Iteration over `readlines()`",
        "`readlines()` holds all lines in memory at once. Iterating over the file yields one line at a time.",
        "with open(path) as file:\n    for line in file.readlines(): ...",
        "with open(path) as file:\n    for line in file: ...",
    ),
    _slow(
        "FURB192", "`sorted()` to find the minimum or maximum",
        "Sorting takes O(n log n) time and a copy. `min` and `max` look at each element once.",
        "sorted(names)[0]", "min(names)",
    ),
    _slow(
        "RUF015", "Whole list built for its first element",
        "`next(iter(...))` returns the first element without building a list.",
        "list(users)[0]", "next(iter(users))",
    ),
    _slow(
        "RUF017", "Lists concatenated with `sum()`",
        "`sum` creates a new list for each addition and copies all previous elements, so the cost is quadratic.",
        "sum(lists, [])", "list(itertools.chain.from_iterable(lists))",
    ),
    _slow(
        "ASYNC210", "Blocking HTTP request in an async function",
        "Nothing else runs on the event loop until the response arrives.",
        "async def get():\n    return requests.get(url)", "async def get():\n    return await client.get(url)",
    ),
    _slow(
        "ASYNC220", "Subprocess started by a blocking call in an async function",
        "Nothing else runs on the event loop while the process is being created.",
        "async def run():\n    subprocess.Popen(command)",
        "async def run():\n    await asyncio.create_subprocess_exec(*command)",
    ),
    _slow(
        "ASYNC221", "Blocking wait for a subprocess in an async function",
        "Nothing else runs on the event loop until the process has ended.",
        "async def run():\n    subprocess.run(command)",
        "async def run():\n    await asyncio.create_subprocess_exec(*command)",
    ),
    _slow(
        "ASYNC222", "`os.wait` in an async function",
        "Nothing else runs on the event loop until the process has ended.",
        "async def run():\n    os.waitpid(child, 0)", "async def run():\n    await process.wait()",
    ),
    _slow(
        "ASYNC230", "Blocking `open` call in an async function",
        "Nothing else runs on the event loop until the file has been opened.",
        "async def read():\n    return open(path).read()",
        "async def read():\n    return await asyncio.to_thread(path.read_text)",
    ),
    _slow(
        "ASYNC251", "`time.sleep` in an async function",
        "It blocks the whole event loop, not only this function.",
        "async def wait():\n    time.sleep(1)", "async def wait():\n    await asyncio.sleep(1)",
    ),
    _unsafe(
        "S113", "HTTP request without a timeout",
        "Without a timeout, a server that does not respond can block the program indefinitely.",
        "requests.get(url)", "requests.get(url, timeout=10)",
    ),
    _unsafe(
        "S201", "Flask application run with the debugger enabled",
        "Flask's debugger lets anyone who can reach an error page run code.",
        "app.run(debug=True)", "app.run()",
    ),
    _unsafe(
        "S202", "Archive extracted without checking member names",
        "A member named `../../x`, or a link, can be written outside the folder. `filter='data'` rejects both.",
        "archive.extractall(folder)", "archive.extractall(folder, filter='data')",
    ),
    _unsafe(
        "S306", "Temporary file name chosen before the file is created",
        "Between choosing the name and creating the file, someone else can create a file or a link with that name.",
        "path = tempfile.mktemp()", "handle, path = tempfile.mkstemp()",
    ),
    _unsafe(
        "S323", "Certificate verification disabled in an SSL context",
        "The context accepts any certificate, including that of a man in the middle.",
        "ssl._create_unverified_context()", "ssl.create_default_context()",
    ),
    _unsafe(
        "S501", "Certificate verification disabled",
        "With `verify=False`, anyone between this program and the server can impersonate the server.",
        "requests.get(url, verify=False)", "requests.get(url, verify='company.pem')",
    ),
    _unsafe(
        "S502", "Insecure SSL or TLS version",
        "SSL 2, SSL 3 and TLS 1.0 have known weaknesses that let an attacker on the network decrypt traffic.",
        "ssl.wrap_socket(ssl_version=ssl.PROTOCOL_SSLv3)", "ssl.create_default_context()",
    ),
    _unsafe(
        "S503", "Insecure SSL or TLS version as a default",
        "SSL 2, SSL 3 and TLS 1.0 have known weaknesses, and callers get this version unless they choose another.",
        "def connect(version=ssl.PROTOCOL_SSLv3): ...", "def connect(context=None): ...",
    ),
    _unsafe(
        "S505", "Cryptographic key too short",
        "A key of this length can be broken with hardware that can be rented today.",
        "rsa.generate_private_key(65537, 1024)", "rsa.generate_private_key(65537, 3072)",
    ),
    _unsafe(
        "S507", "SSH host keys not verified",
        "The key of an unknown host is accepted without verification, so any server that answers is trusted.",
        "client.set_missing_host_key_policy(paramiko.AutoAddPolicy())",
        "client.set_missing_host_key_policy(paramiko.RejectPolicy())",
    ),
    _unsafe(
        "S508", "Insecure SNMP version",
        "Versions 1 and 2c send the community string, which serves as the password, in plain text.",
        "CommunityData('public', mpModel=0)", "UsmUserData(user, key)",
    ),
    _unsafe(
        "S509", "SNMP without authentication or encryption",
        "Anyone on the network can read the messages or forge them.",
        "UsmUserData(user)", "UsmUserData(user, key, privacy_key)",
    ),
)  # fmt: skip


# Our own rules.


PACKAGE = "concordance.extract.rules"
OWN_TOOL = "Concordance"
MAX_COLUMN = 2000
TEST_CATEGORIES = frozenset((Category.TEST, Category.BENCHMARK))
_AROUND = frozenset((Kind.FUNCTION, Kind.METHOD, Kind.PROPERTY, Kind.CLASS, Kind.STRUCT))


@cache
def rules() -> Mapping[str, Rule]:
    """Return every rule by its id: ours first, then ruff's."""
    own = {module.ID: _rule(module) for module in plugins.load_all(PACKAGE)}
    return {**dict(sorted(own.items())), **{rule.id: rule for rule in RUFF_RULES}}


def rules_for(language: str) -> list[Rule]:
    """Return the rules that apply to files of a language."""
    return [rule for rule in rules().values() if not rule.languages or language in rule.languages]


def _rule(module: ModuleType) -> Rule:
    if not (getattr(module, "NAMES", ()) or getattr(module, "WORDS", ())):
        raise BrokenPlugin(f"the rule {module.ID} has neither NAMES nor WORDS: it would never run", "Add one of them")
    if module.CATEGORY not in CATEGORIES:
        advice = f"Use one of {', '.join(CATEGORIES)}"
        raise BrokenPlugin(f"the rule {module.ID} has the category {module.CATEGORY}, which no page shows", advice)
    return Rule(
        module.ID, module.TITLE, module.CATEGORY, module.SEVERITY, module.WHY, module.BAD, module.GOOD,
        module.LANGUAGES, OWN_TOOL, module.TESTS,
    )  # fmt: skip


def enclosing_key(symbols: tuple[Symbol, ...], line: int) -> str:
    """Return the key of the innermost function or class around a line, "" if there is none."""
    place = bisect_right(symbols, line, key=lambda s: s.start_line) - 1
    while place >= 0:
        symbol = symbols[place]
        if symbol.end_line >= line and symbol.kind in _AROUND:
            return symbol.key
        place = symbol.parent
    return ""
