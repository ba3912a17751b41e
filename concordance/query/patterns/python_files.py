"""The patterns of Python that a file shows as a whole: how it is run, what it needs, what it warns of, how it tests.

In: a file that is looked through. Out: what shows each pattern; `patternspython` has the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.query.patterns.file_view import Seen, Shown

_TYPES_ONLY = "TYPE_CHECKING"  # the name of what is false when code runs
_MAIN = re.compile(r"""^if[ ]__name__[ ]==[ ]["']__main__["'][ ]*:""", re.M)
_CLI = re.compile(
    r"[^#\n]*?\b(argparse\.ArgumentParser|ArgumentParser|optparse\.OptionParser|typer\.Typer|fire\.Fire)\("
)
_ABSENT = re.compile(r"^[ \t]*except\b.*\b(?:ImportError|ModuleNotFoundError)\b")
_WARNS = re.compile(r"[^#\n]*?\bwarn(?:_once)?\((?:[^()]|\([^()]*\)){0,600}?\b(?:Pending)?DeprecationWarning\b")
_SET = re.compile(r"^([A-Za-z_]\w*)((?:\.\w+)+)[ ]=[ ](?!=)([A-Za-z_][\w.]*)", re.M)
_LOCK = re.compile(r"^[ \t]*(?:self\.|cls\.)?(\w++)(?:[ \t]*+:[^=\n]*+)?[ \t]*+=[ \t]*+"
                   r"(threading|multiprocessing|asyncio|mp)\.(R?Lock|Condition|Semaphore|Event)\(", re.M)  # fmt: skip


def optional(seen: Seen) -> Iterator[Shown]:
    had = set()
    for one in seen.facts.imports:
        if one.condition != "try":
            continue
        indent = one.col - 1
        for number in range(one.line, min(one.line + 30, len(seen.lines))):
            line = seen.lines[number]
            if line.strip() and len(line) - len(line.lstrip()) < indent:
                name = one.module if not one.module.startswith(".") or not one.name else f"{one.module}.{one.name}"
                if _ABSENT.match(line) and one.module not in had:
                    had.add(one.module)
                    yield Shown(one.line, -1, name)
                break


def waiting(seen: Seen) -> Iterator[Shown]:
    """Imports that wait until a function is called."""
    had = set()
    for one in seen.facts.imports:
        scope = one.scope
        while scope > 0 and seen.facts.scopes[scope].kind not in ("function", "lambda"):
            scope = seen.facts.scopes[scope].parent
        if scope > 0 and one.module not in had:
            had.add(one.module)
            yield Shown(one.line, -1, one.module)


def typing_only(seen: Seen) -> Iterator[Shown]:
    had = set()
    for one in seen.facts.imports:
        if _TYPES_ONLY in one.condition and one.module not in had:
            had.add(one.module)
            yield Shown(one.line, -1, one.module)


def script(seen: Seen) -> Iterator[Shown]:
    return (Shown(line, -1, "__main__") for line, _ in seen.found(_MAIN, seen.hashed, "__main__"))


def command_line(seen: Seen) -> Iterator[Shown]:
    for line, match in seen.found(_CLI, seen.hashed, "Parser(", "Typer(", "fire.Fire("):
        if not seen.lines[line - 1].lstrip().startswith(("#", "class ", "def ")):
            yield Shown(
                line,
                seen.around(line),
                "" if seen.around(line) >= 0 else match[1],
                "" if seen.around(line) < 0 else match[1],
            )
    for place, symbol, name in seen.decorated:
        if name in ("click.command", "click.group", "typer.command", "app.command", "cli.command"):
            yield Shown(symbol.start_line, place, "", name)


def deprecated(seen: Seen) -> Iterator[Shown]:
    had = set()
    for place, symbol, name in seen.decorated:
        if name.rpartition(".")[2].startswith("deprecate"):
            had.add(place)
            yield Shown(symbol.start_line, place)
    warned = seen.found(_WARNS, seen.hashed, "warn(", "warn_once(") if "DeprecationWarning" in seen.hashed else ()
    for line, _ in warned:
        place = seen.around(line)
        if place >= 0 and place not in had and not seen.lines[line - 1].lstrip().startswith("#"):
            had.add(place)
            yield Shown(line, place, "", "warns")


def patched(seen: Seen) -> Iterator[Shown]:
    """An attribute of an imported module that is set from outside of it."""
    modules = {one.alias or one.module.partition(".")[0] for one in seen.facts.imports if not one.name}
    for line, match in seen.found(_SET, seen.hashed, *(f"\n{name}." for name in sorted(modules))):
        if match[1] in modules and match[3].partition(".")[0] not in ("None", "True", "False"):
            yield Shown(line, -1, match[1] + match[2], f"set to {match[3]}")


def coroutines(seen: Seen) -> Iterator[Shown]:
    return (seen.shown(place) for place, symbol in seen.functions if "async" in symbol.modifiers)


def pickled(seen: Seen) -> Iterator[Shown]:
    for place, _ in seen.classes:
        names = [
            name for name in ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__") if name in seen.of(place)
        ]
        if names:
            yield Shown(seen.symbols[seen.of(place)[names[0]]].line, place, "", ", ".join(names))


def locks(seen: Seen) -> Iterator[Shown]:
    for line, match in seen.found(_LOCK, seen.hashed, "Lock(", "Condition(", "Semaphore(", "Event("):
        yield Shown(line, -1, match[1], f"{match[2]}.{match[3]}")


def cases(seen: Seen) -> Iterator[Shown]:
    for place, symbol in seen.classes:
        base = next((base for base in symbol.bases if base.endswith("TestCase")), "")
        if base:
            yield seen.shown(place, base)


def parametrised(seen: Seen) -> Iterator[Shown]:
    names = ("parametrize", "parameterized", "expand", "subtest", "ops", "modules", "given")
    had = set()
    for place, symbol, name in seen.decorated:
        is_test = symbol.name.startswith("test") or name.endswith("mark.parametrize")
        if is_test and name.rpartition(".")[2] in names and place not in had:
            had.add(place)
            yield seen.shown(place, f"by {name}")


def fixtures(seen: Seen) -> Iterator[Shown]:
    for place, symbol, name in seen.decorated:
        if name in ("pytest.fixture", "fixture", "pytest_asyncio.fixture", "pytest.yield_fixture"):
            scope = next((found[1] for one in symbol.modifiers if (found := re.search(r"scope=[\"'](\w+)", one))), "")
            yield seen.shown(place, scope)


def mocked(seen: Seen) -> Iterator[Shown]:
    for place, symbol, name in seen.decorated:
        if name in (
            "patch",
            "mock.patch",
            "patch.object",
            "mock.patch.object",
            "unittest.mock.patch",
            "patch.dict",
            "mock.patch.dict",
        ):
            yield Shown(symbol.start_line, place)


def skipped(seen: Seen) -> Iterator[Shown]:
    had = set()
    for place, symbol, name in seen.decorated:
        if re.match(r"(?:skip|expectedFailure|xfail)", name.rpartition(".")[2]) and place not in had:
            had.add(place)
            yield Shown(symbol.start_line, place, "", name)
