"""How the tests of C and C++ are recognised and run.

Tests are made by macros: those of googletest, Catch2, doctest and similar. The program that CMake builds from a source
is found directly, through variables that list sources, through globs, or through a loop that builds one program per
source; otherwise a Bazel file may have a rule for the source. CTest runs a test by its own name if CMake registers each
test of the program, and the whole program, by the name it was given, if the test has no filter.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Callable, Iterable

from concordance.base.model import FileFacts, Kind, RunnerFiles, TestConventions

_COMMAND = re.compile(r"^[ \t]*(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.M)
_WORD = re.compile(r'"[^"]*"|[^\s"]+')
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MAKE = frozenset(("add_executable", "add_test_executable", "cc_test", "cuda_add_executable", "ament_add_gtest",
                   "gtest_add_executable"))  # fmt: skip
_LIST = frozenset(("set", "list", "file", "foreach", "get_filename_component", "target_sources"))
_REGISTER = frozenset(("add_test", "gtest_discover_tests", "gtest_add_tests"))
_HOPS = 3  # levels of variables that are defined by other variables
Command = tuple[str, list[str]]
_CMAKE = "CMakeLists.txt"
_BAZEL = ("BUILD", "BUILD.bazel")
_HEAD = 4_000  # bytes in which a test file includes its framework
_MAX_CMAKE_FILES = 400  # CMake files that are searched for the use of a variable
# What follows "TEST" is as in a framework: other macros, as `TEST_SUBMODULE`, may define anything.
_MACRO = re.compile(
    r"(?:[A-Z0-9]+_)*(?:[A-Z]{3,})?TEST(?:_(?:[A-Z]|CASE(?:_[A-Z_]+)?|METHOD|FIXTURE(?:_[A-Z]+)?|(?:[A-Z]+_)?IMPL))?\s*\(|"
    r"(?:SCENARIO(?:_METHOD)?|SUBCASE)\s*\("
)
# Of other titles, some characters have a meaning in a filter.
_TITLED = re.compile(r"TEST_CASE(?:_METHOD|_FIXTURE)?\s*\((?:\s*\w+\s*,)?\s*\"([\w .:/()=<>+-]+)\"\s*[,)]")
_GTEST = re.compile(r"((?=\w*TEST)\w++)\s*+\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def _find(facts: FileFacts, path: str) -> list[int]:
    functions = ((place, symbol.name) for place, symbol in enumerate(facts.symbols) if symbol.kind == Kind.FUNCTION)
    return [place for place, name in functions if _MACRO.match(name) and "DISABLED_" not in name]  # nobody runs those


def _command(files: RunnerFiles, path: str) -> Callable[[str], str] | None:
    target, commands = _program(files, path)
    if target:
        by_option = b"doctest" in files.text(path, _HEAD)
        return lambda name: (
            _titled(target, name, by_option)
            or _ctest(commands, target, name)
            or (f"{target}{chosen}" if (chosen := _filter(" --gtest_filter=", name)) or not name else "")
        )
    for build in files.nearest(path, *_BAZEL):
        folder = build.rpartition("/")[0]
        inside = path[len(folder) + 1 if folder else 0 :]
        for rule in re.findall(r"\bcc_test\((.*?)\n\)", files.text(build).decode(errors="replace"), re.S):
            named = re.search(r'\bname\s*=\s*"([^"]+)"', rule)
            if named and f'"{inside}"' in rule:
                label = f"//{folder}:{named.group(1)}"
                return lambda name: f"bazel test {label}{_filter(' --test_filter=', name)}"
    return None


def _titled(target: str, name: str, by_option: bool) -> str:
    """Return the command that runs a test by its title, as Catch2 does, or doctest by an option; "" if it has none."""
    match = _TITLED.search(name)
    if match is None:
        return ""
    return f"{target}{' --test-case=' if by_option else ' '}{shlex.quote(match[1])}"


def _ctest(commands: list[Command], target: str, name: str) -> str:
    """Return the command by which CTest runs one test, "" if it knows no such test."""
    registered = [(words, command) for command, words in commands if command in _REGISTER and target in words]
    match = _GTEST.search(name)  # namespaces may come first
    for words, command in registered:
        if command == "add_test" and match is None:
            known = words[1] if words[0] == "NAME" else words[0]
            return f"ctest -R '^{re.escape(known)}$'" if "$" not in known else ""
        if command != "add_test" and match is not None and "TEST_PREFIX" not in words and "TEST_SUFFIX" not in words:
            macro, suite, test = match.groups()
            if "TYPED" not in macro and not macro.endswith("_P"):
                return f"ctest -R '^{suite}\\.{test}$'"
    return ""


def _program(files: RunnerFiles, path: str) -> tuple[str, list[Command]]:
    """Return the program that CMake builds from a source, and the commands of the CMake file that builds it.

    The nearest CMake file that names the source decides, or another one that uses the variables in which it is listed.
    """
    variables: frozenset[str] = frozenset()
    for build in files.nearest(path, _CMAKE):
        commands = files.parsed(build, _read_commands)
        target, variables = cmake_target(commands, path[len(build) - len(_CMAKE) :])
        if target or variables:
            break
    else:
        return "", []
    for build in files.named(_CMAKE)[:_MAX_CMAKE_FILES] if variables and not target else ():
        if variables.isdisjoint(files.parsed(build, _read_names)):
            continue
        commands = files.parsed(build, _read_commands)
        target, _ = cmake_target(commands, path, variables)
        if target:
            break
    return target, commands


def _filter(option: str, name: str) -> str:
    """Return the option that selects one googletest; patterns cover the variants of typed and parametrised tests."""
    match = _GTEST.search(name)  # namespaces may come first
    if match is None:
        return ""
    macro, suite, test = match.groups()
    if "TYPED" in macro:
        return option + shlex.quote(f"{suite}/*.{test}")
    return option + (shlex.quote(f"*/{suite}.{test}/*") if macro.endswith("_P") else f"{suite}.{test}")


# CMake: from sources to programs.


def cmake_commands(text: str) -> list[Command]:
    """Return the commands of a CMake file that connect sources with programs."""
    commands = _COMMAND.findall(re.sub(r"#.*", "", text))
    return [(name.lower(), _words(inside)) for name, inside in commands if name.lower() in _MAKE | _LIST | _REGISTER]


def _read_commands(data: bytes) -> list[Command]:
    return cmake_commands(data.decode(errors="replace"))


def _read_names(data: bytes) -> frozenset[str]:
    """Return the words in the commands of a CMake file that may name a variable."""
    words = {word for _, words in _read_commands(data) for word in words}
    return frozenset(words | {word[2:-1] for word in words if word.startswith("${")})


def _words(inside: str) -> list[str]:
    return [word.strip('"') for word in _WORD.findall(inside)]


def cmake_target(commands: list[Command], source: str, variables: Iterable[str] = ()) -> tuple[str, frozenset[str]]:
    """Return the program that is built from a source ("" if none), and the variables that list the source.

    `variables` are those of other files that are known to list it; a CMake file further up may use what is returned.
    With them only variables count: what such a file names or matches itself is in its own folder.
    """
    list_variables = set(variables)
    near = "" if list_variables else source
    for _ in range(_HOPS):
        for name, words in commands:
            if name in ("set", "list", "file") and len(words) > 1:
                variable, listed = (words[0], words[1:]) if name == "set" else (words[1], words[2:])
                if _lists(listed, near, list_variables):
                    list_variables.add(variable)
    for name, words in commands:
        if name == "foreach" and words and _lists(words[1:], near, list_variables):
            list_variables.add(words[0])
    programs = {words[0] for name, words in commands if name in _MAKE and words}
    for name, words in commands:
        adds = name in _MAKE or (name == "target_sources" and words[:1] and words[0] in programs)
        if adds and words and _lists(words[1:], near, list_variables):
            target = _expanded(words[0], commands, source)
            if "$" not in target:
                return target, frozenset(list_variables)
    return "", frozenset(list_variables)


def _expanded(target: str, commands: list[Command], source: str) -> str:
    """Replace the variables in a name, as far as they are plain values or the source's own name."""
    values: dict[str, str] = {}
    for name, words in commands:
        if name == "get_filename_component" and "NAME_WE" in words:
            values[words[0]] = source.rpartition("/")[2].partition(".")[0]
        elif name == "set" and len(words) == 2:
            values.setdefault(*words)
    for _ in range(_HOPS):
        target = _VARIABLE.sub(lambda match: values.get(match.group(1), match.group()), target)
    return target


def _lists(words: list[str], source: str, list_variables: set[str]) -> bool:
    """True if some words name a source: literally, by a pattern, or by a variable that lists it."""
    for word in words:
        if word in list_variables or (word.startswith("${") and word[2:-1] in list_variables):
            return True
        bare = word.rpartition("}/")[2] if word.startswith("${") else word
        if bare and source and (source == bare or source.endswith(f"/{bare}") or ("*" in bare and _fits(source, bare))):
            return True
    return False


def _fits(source: str, pattern: str) -> bool:
    return fnmatch.fnmatch(source, pattern) or fnmatch.fnmatch(source.rpartition("/")[2], pattern)


CONVENTIONS = TestConventions(find=_find, command=_command, settings=(_CMAKE, ".cmake", *_BAZEL, "TARGETS", ".bzl"))
