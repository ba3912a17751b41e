"""Works out the command that runs a test, to be run from the repository's root.

In: a test's path, name and language. Out: a command line; "" if no file says how to run it. The end of the test file
itself (`unittest.main()`) decides first, then the settings files on the way up to the root: those of pytest, CMake,
Bazel, npm (`package.json`), Go (`go.mod`), Cargo, Maven and Gradle.

For C++ the program that CMake builds from a source is found directly, through variables that list sources, through
globs, or through a loop that builds one program per source.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from concordance.base.errors import Unreadable
from concordance.base.model import ListedFile
from concordance.collect import walk
from concordance.facts.updates.store_delta import Aspect
from concordance.query.index.updates.reads import ReadRecorder

_COMMAND = re.compile(r"^[ \t]*(\w+)[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.M)
_WORD = re.compile(r'"[^"]*"|[^\s"]+')
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_MAKE = frozenset(("add_executable", "add_test_executable", "cc_test", "cuda_add_executable", "ament_add_gtest",
                   "gtest_add_executable"))  # fmt: skip
_LIST = frozenset(("set", "list", "file", "foreach", "get_filename_component"))
_HOPS = 3  # levels of variables that are defined by other variables
Command = tuple[str, list[str]]
_LARGEST = 2_000_000  # bytes that are read of a settings file
_HEAD = 20_000  # bytes of a test that are read at its start (imports) and at its end (`__main__`)
_MAIN = re.compile(rb"""^if __name__ == ["']__main__["']:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n?|\s*\n)+)""", re.M)
_UNITTEST_MAIN = re.compile(rb"\b(?:run_tests|unittest\.main|absltest\.main|TestProgram)\s*\(")
_PYTEST_FILES = (("pytest.ini", ""), (".pytest.ini", ""), ("pyproject.toml", "[tool.pytest"), ("tox.ini", "[pytest]"),
                 ("setup.cfg", "[tool:pytest]"), ("conftest.py", ""))  # fmt: skip
_MENTIONS = ("pyproject.toml", "tox.ini", "setup.cfg", "setup.py", "noxfile.py", "Makefile", "requirements.txt",
             "requirements-dev.txt", "dev-requirements.txt", "test-requirements.txt")  # fmt: skip
_CMAKE = "CMakeLists.txt"
_MOST = 400  # CMake files that are searched for the use of a variable
_OTHERS = ("package.json", "go.mod", "Cargo.toml", "pom.xml", "build.gradle", "build.gradle.kts", "gradlew",
           "runtests.py", "manage.py", "BUILD", "BUILD.bazel", "TARGETS")  # fmt: skip
_GTEST = re.compile(r"((?=\w*TEST)\w++)\s*+\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def affects_test_commands(path: str) -> bool:
    """True if a file may determine how the tests in other files are run."""
    name = path.rpartition("/")[2]
    named = name in _MENTIONS or name in _OTHERS or any(name == one for one, _ in _PYTEST_FILES)
    return named or name == _CMAKE or name.endswith((".cmake", ".bzl"))


class RunnerCommands:
    """The test commands of one repository; what was found for a file or folder is cached."""

    def __init__(self, root: str, paths: Collection[str], reads: ReadRecorder) -> None:
        self._root, self._paths, self.reads = root, paths, reads
        self._texts: dict[str, bytes] = {}
        self._builds: dict[str, list[Command]] = {}
        self._found: dict[str, Callable[[str], str]] = {}

    def command(self, path: str, language: str, name: str) -> str:
        """Return the command that runs one test; `name` is its qualified name, or "" for the whole file."""
        self.reads.note("command", path)
        if path not in self._found:
            maker = self._makers.get(language)
            with self.reads.unheard():
                self._found[path] = maker(path) if maker is not None else _no_command
        return self._found[path](name)

    @cached_property
    def _makers(self) -> dict[str, Callable[[str], Callable[[str], str]]]:
        return {
            "python": self._python, "c": self._c, "cpp": self._c, "cuda": self._c, "objcpp": self._c, "go": self._go,
            "rust": self._rust, "java": self._java, "javascript": self._script, "typescript": self._script,
        }  # fmt: skip

    # --- reading

    def text(self, path: str, most: int = _LARGEST) -> bytes:
        """Return the first bytes of a file, or the last if `most` is negative; empty if there is no such file.

        Settings files are cached, because many tests share them.
        """
        self.reads.note(Aspect.TEXT, path)
        if path not in self._paths:
            return b""
        if path in self._texts:
            return self._texts[path]
        try:
            found = walk.read(self._root, ListedFile(path, 0, 0), abs(most), most < 0)
        except Unreadable:
            found = b""
        if most == _LARGEST:
            self._texts[path] = found
        return found

    def _nearest(self, path: str, *names: str) -> Iterator[str]:
        """Yield the files with the given names in a file's folder and those above, nearest first."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            for name in names:
                inside = f"{folder}/{name}" if folder else name
                if inside in self._paths:
                    yield inside

    # --- Python

    def _python(self, path: str) -> Callable[[str], str]:
        text = self.text(path, _HEAD)
        main = _MAIN.search(self.text(path, -_HEAD))
        if main is not None and _UNITTEST_MAIN.search(main.group(1)):
            return lambda name: f"python {shlex.quote(path)}{f' {name}' if '.' in name else ''}"
        if self._has_pytest(path) or b"import pytest" in text:
            return lambda name: f"pytest {shlex.quote('::'.join([path, *filter(None, name.split('.'))]))}"
        for script, said in (("runtests.py", "python {}"), ("manage.py", "python {} test")):
            for found in self._nearest(path, script):
                inside = path[len(found) - len(script) :]
                return lambda name: f"{said.format(found)} {_dotted(inside, name)}"
        if re.search(rb"^\s*(?:import|from) unittest\b", text, re.M):
            return lambda name: f"python -m unittest {_dotted(path, name)}"
        return _no_command

    def _has_pytest(self, path: str) -> bool:
        """True if pytest is configured for a file, or a file in the repository's root mentions it."""
        for name, word in _PYTEST_FILES:
            if any(word.encode() in self.text(found) for found in self._nearest(path, name)):
                return True
        return any(re.search(rb"\bpytest\b", self.text(name)) for name in _MENTIONS)

    # --- C and C++

    def _c(self, path: str) -> Callable[[str], str]:
        target = self._program(path)
        if target:
            return lambda name: f"{target}{_filter(' --gtest_filter=', name)}"
        for build in self._nearest(path, "BUILD", "BUILD.bazel"):
            folder = build.rpartition("/")[0]
            inside = path[len(folder) + 1 if folder else 0 :]
            for rule in re.findall(r"\bcc_test\((.*?)\n\)", self.text(build).decode(errors="replace"), re.S):
                named = re.search(r'\bname\s*=\s*"([^"]+)"', rule)
                if named and f'"{inside}"' in rule:
                    label = f"//{folder}:{named.group(1)}"
                    return lambda name: f"bazel test {label}{_filter(' --test_filter=', name)}"
        return _no_command

    def _program(self, path: str) -> str:
        """Return the program that CMake builds from a source.

        The nearest CMake file that names the source decides, or another one that uses the variables in which it is
        listed.
        """
        held: frozenset[str] = frozenset()
        for build in self._nearest(path, _CMAKE):
            target, held = cmake_target(self._commands(build), path[len(build) - len(_CMAKE) :])
            if target or held:
                break
        else:
            return ""
        for build in self._cmakes if held and not target else ():
            target, _ = cmake_target(self._commands(build), path, held)
            if target:
                break
        return target

    @cached_property
    def _cmakes(self) -> list[str]:
        return sorted(path for path in self._paths if path.rpartition("/")[2] == _CMAKE)[:_MOST]

    def _commands(self, build: str) -> list[Command]:
        if build not in self._builds:
            self._builds[build] = cmake_commands(self.text(build).decode(errors="replace"))
        return self._builds[build]

    # --- others

    def _go(self, path: str) -> Callable[[str], str]:
        module = next(self._nearest(path, "go.mod"), None)
        if module is None:
            return _no_command
        home, folder = module.rpartition("/")[0], path.rpartition("/")[0]
        inside = folder[len(home) :].strip("/")
        before = f"go -C {shlex.quote(home)}" if home else "go"
        wanted = f"{before} test ./{inside}".removesuffix("/")
        return lambda name: f"{wanted} -run '^{name.rpartition('.')[2]}$'" if name else wanted

    def _rust(self, path: str) -> Callable[[str], str]:
        manifest = next(self._nearest(path, "Cargo.toml"), None)
        if manifest is None:
            return _no_command
        named = re.search(rb'^\s*name\s*=\s*"([^"]+)"', self.text(manifest), re.M)
        package = f" -p {named.group(1).decode()}" if "/" in manifest and named else ""
        return lambda name: f"cargo test{package} {name.replace('.', '::')}".rstrip()

    def _java(self, path: str) -> Callable[[str], str]:
        stem = path.rpartition("/")[2].partition(".")[0]
        for build in self._nearest(path, "pom.xml", "build.gradle", "build.gradle.kts"):
            if build.endswith("pom.xml"):
                return lambda name: f"mvn test -Dtest={stem}{f'#{_last(name)}' if name else ''}"
            gradle = "./gradlew" if "gradlew" in self._paths else "gradle"
            return lambda name: f"{gradle} test --tests '*{stem}{f'.{_last(name)}' if name else ''}'"
        return _no_command

    def _script(self, path: str) -> Callable[[str], str]:
        for manifest in self._nearest(path, "package.json"):
            try:
                said = json.loads(self.text(manifest))
            except ValueError:
                continue
            if not isinstance(said, dict):
                continue
            scripts = said.get("scripts")
            script = str(scripts.get("test", "")) if isinstance(scripts, dict) else ""
            named = {name for key in ("dependencies", "devDependencies") for name in _keys(said.get(key))}
            named |= set(re.findall(r"[\w-]+", script)) | ({"jest"} if "jest" in said else set())
            tool = next((tool for word, tool in _TOOLS if word in named), "npm test --" if script else "")
            if tool:
                folder = manifest.rpartition("/")[0]
                inside = shlex.quote(path[len(folder) + 1 if folder else 0 :])
                return lambda name: f"{f'cd {shlex.quote(folder)} && ' if folder else ''}{tool} {inside}"
        return _no_command


_TOOLS = (("jest", "npx jest"), ("vitest", "npx vitest run"), ("mocha", "npx mocha"), ("ava", "npx ava"))


def _no_command(name: str) -> str:
    return ""


def _keys(value: object) -> list[str]:
    return [str(key) for key in value] if isinstance(value, dict) else []


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _dotted(path: str, name: str) -> str:
    return ".".join(filter(None, [*path.removesuffix(".py").split("/"), name]))


def _filter(option: str, name: str) -> str:
    """Return the option that selects one googletest; patterns cover the variants of typed and parametrised tests."""
    found = _GTEST.match(name)
    if found is None:
        return ""
    macro, suite, test = found.groups()
    if "TYPED" in macro:
        return option + shlex.quote(f"{suite}/*.{test}")
    return option + (shlex.quote(f"*/{suite}.{test}/*") if macro.endswith("_P") else f"{suite}.{test}")


# CMake: from sources to programs.


def cmake_commands(text: str) -> list[Command]:
    """Return the commands of a CMake file that connect sources with programs."""
    found = _COMMAND.findall(re.sub(r"#.*", "", text))
    return [(name.lower(), _words(inside)) for name, inside in found if name.lower() in _MAKE | _LIST]


def _words(inside: str) -> list[str]:
    return [word.strip('"') for word in _WORD.findall(inside)]


def cmake_target(commands: list[Command], source: str, held: Iterable[str] = ()) -> tuple[str, frozenset[str]]:
    """Return the program that is built from a source ("" if none), and the variables that list the source.

    `held` are variables of other files that are known to list it; a CMake file further up may use what is returned.
    """
    holders = set(held)
    for _ in range(_HOPS):
        for name, words in commands:
            if name in ("set", "list", "file") and len(words) > 1:
                variable, listed = (words[0], words[1:]) if name == "set" else (words[1], words[2:])
                if _lists(listed, source, holders):
                    holders.add(variable)
    for name, words in commands:
        if name == "foreach" and words and _lists(words[1:], source, holders):
            holders.add(words[0])
    for name, words in commands:
        if name in _MAKE and words and _lists(words[1:], source, holders):
            made = _expanded(words[0], commands, source)
            if "$" not in made:
                return made, frozenset(holders)
    return "", frozenset(holders)


def _expanded(made: str, commands: list[Command], source: str) -> str:
    """Replace the variables in a name, as far as they are plain values or the source's own name."""
    values: dict[str, str] = {}
    for name, words in commands:
        if name == "get_filename_component" and "NAME_WE" in words:
            values[words[0]] = source.rpartition("/")[2].partition(".")[0]
        elif name == "set" and len(words) == 2:
            values.setdefault(*words)
    for _ in range(_HOPS):
        made = _VARIABLE.sub(lambda match: values.get(match.group(1), match.group()), made)
    return made


def _lists(words: list[str], source: str, holders: set[str]) -> bool:
    """True if some words name a source: literally, by a pattern, or by a variable that lists it."""
    for word in words:
        if word in holders or (word.startswith("${") and word[2:-1] in holders):
            return True
        bare = word.rpartition("}/")[2] if word.startswith("${") else word
        if bare and (source == bare or source.endswith(f"/{bare}") or ("*" in bare and _fits(source, bare))):
            return True
    return False


def _fits(source: str, pattern: str) -> bool:
    return fnmatch.fnmatch(source, pattern) or fnmatch.fnmatch(source.rpartition("/")[2], pattern)
