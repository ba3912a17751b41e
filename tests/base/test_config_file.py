"""Settings in `concordance.toml`: every value is validated, has its effect, and is noticed by the next build."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from concordance import api
from concordance.base import config_file
from concordance.base.config import Book, Config, Note, Roots, core_count
from concordance.base.config_file import key_lines
from concordance.base.errors import UserError
from concordance.base.kinds import Category, Section
from concordance.base.model import ListedFile, Skip
from concordance.base.progress import ignore_progress
from concordance.collect.path_patterns import Patterns, select_entries
from concordance.extract import ruleset
from concordance.workflow import builds, store_update
from concordance.workflow.book_options import read_settings
from tests.support import books
from tests.support.program import age, concord, git, ledger, sample, write

ROOT = Path(__file__).parents[2]
FILES = {
    "pyproject.toml": '[project]\nname = "woods"\n',
    "README.md": "# Woods\n\nTrees, see [the tree](lib/woods/tree.py).\n",
    "lib/woods/__init__.py": "",
    "lib/woods/tree.py": '"""A tree."""\n\nimport os\n\n\ndef grow(line):\n    """Grows."""\n    exec(line)\n    os.system("rm " + line)\n',
    "extra/woods/__init__.py": "",
    "extra/woods/tree.py": "def grow(line):\n    return line\n",
    "run.py": "from woods.tree import grow\n\n\ndef main():\n    grow('x')\n",
    "tools/make.py": "def make(line):\n    exec(line)\n",
    "qa/probe.py": "from woods.tree import grow\n\n\ndef test_grow():\n    assert grow('a')\n",
    "one/leaf.h": "int leaf();\n",
    "two/leaf.h": "int leaf();\n",
    "src/leaf.c": "#include <leaf.h>\nint use() { return leaf(); }\n",
    "made/a.py": "MADE = 1\n",
    "made/b.log": "line\n",
    "long.txt": "word\n" * 400,
}


def said(root: Path, text: str, name: str = config_file.FILE) -> config_file.Settings:
    """Parse a text as the settings of a repository."""
    (root / name).write_bytes(text.encode())
    return read_settings(str(root))


def wrong(root: Path, text: str, name: str = config_file.FILE) -> str:
    """Return the error message for invalid settings."""
    with pytest.raises(UserError) as caught:
        said(root, text, name)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.fixture
def woods(folder: Path) -> Path:
    """A small repository with something that each setting affects."""
    sample(folder, FILES)
    return folder


def built(root: Path, text: str | None = None) -> dict[str, str]:
    """Return the pages of a repository's book, built with some settings."""
    if text is not None:
        (root / config_file.FILE).write_text(text)
    _, written = builds.write_book(str(root), None, None, 1, ignore_progress)
    assert not written.failed
    assert builds.verify(str(root), None, 1, ignore_progress).problems == []
    return books.pages(Path(written.out))


def asked(root: Path, command: str, about: str) -> list[dict[str, Any]]:
    """Return a command's answer from the updated store."""
    with api.Repository(root) as repository:
        found: list[dict[str, Any]] = getattr(repository, command)(about)
        return found


# --- the file


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\n\nexlude = []\n", "unknown key `exlude` in concordance.toml, line 3; did you mean `exclude`?"),
        ("zzz = 1", "unknown key `zzz` in concordance.toml, line 1; choose one of: include, exclude"),
        ("[rules]\noff = []\nofff = []", "unknown key `rules.offf` in concordance.toml, line 3; did you mean `rules.off`?"),
        ("roots = {pyton = []}", "unknown key `roots.pyton` in concordance.toml, line 1; did you mean `roots.python`?"),
        ("[[note]]\npath='a'\ntext='b'\n[[note]]\npath='a'\ntxt='b'", "unknown key `note.txt` in concordance.toml, line 6"),
        ("[note]\npath = 'a'\ntext = 'b'", "`note` in concordance.toml, line 1, needs double brackets"),
        ("[[note]]\npath = 'a'\n", "the [[note]] in concordance.toml, line 1, has no `text`"),
        ("include = 'src'", "`include` in concordance.toml, line 1, must be a list in brackets, not \"src\""),
        ("exclude = [\n'a',\n2,\n]", "`exclude` in concordance.toml, line 3, must be a quoted string, not 2"),
        ("exclude = ['../a']", "must be a pattern of files in the repository"),
        ("exclude = ['']", "must be a pattern of files in the repository"),
        ("include = ['!a']", "must be a pattern without `!`"),
        (f"exclude = {['a'] * 201}", "has more than 200 entries"),
        ("jobs = 'two'", "`jobs` in concordance.toml, line 1, must be a whole number from 1 to 256, not \"two\""),
        ("jobs = true", "must be a whole number from 1 to 256, not true"),
        ("jobs = 100000", "must be a whole number from 1 to 256, not 100000"),
        ("largest = 10", "must be a whole number from 1,000 to 100,000,000, not 10"),
        ("source = 'ful'", "unknown value `ful` in concordance.toml, line 1; did you mean `full`?"),
        ("history = 1", "`history` in concordance.toml, line 1, must be true or false, not 1"),
        ("include_generated = 'yes'", "must be true or false"),
        ("[categories]\n'qa/' = 'tests'", "unknown category `tests` in concordance.toml, line 2; did you mean `test`?"),
        ("[rules]\noff = ['PY-EXE']", "unknown rule `PY-EXE` in concordance.toml, line 2; did you mean `PY-EXEC`?"),
        ("[rules.allowed]\nPY-EXE = []", "unknown rule `PY-EXE` in concordance.toml, line 2; did you mean `PY-EXEC`?"),
        ("[sections]\noff = ['Related']", "unknown section `Related` in concordance.toml, line 2; did you mean `Related Files`?"),
        ("out = '../book'", "`out` in concordance.toml, line 1, must be a path inside the repository"),
        ("out = '/tmp/book'", "To write elsewhere, use --out on the command line"),
        ("out = '.git/hooks'", "must be a folder for documentation"),
        ("out = '.concordance'", "must be a folder for documentation"),
        ("roots = {c = ['/usr/include']}", "must be a path inside the repository"),
        ("[[note]]\npath = 'a/../../b'\ntext = 'x'", "must be a path inside the repository"),
        ("[[note]]\npath = 'a'\ntext = ' '", "`note.text` in concordance.toml, line 3, must be Markdown"),
        ("a = ", "concordance.toml is not valid TOML: Invalid value (at end of document)"),
        ("out = 'a'\nout = 'b'", "concordance.toml is not valid TOML"),
        ("x = " + "[\n" * 3000 + "]" * 3000, "is nested too deeply"),
        ("# " + "x" * 300_000, "too large for a settings file"),
        ("x = '" + "x" * 20_000 + "'", "too large for a settings file"),
        ('"\\u001b[31m" = 1', 'unknown key `"\\u001b[31m"`'),  # nothing of it is written to a terminal as it is
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(folder: Path, text: str, told: str) -> None:
    assert told in wrong(folder, text)


def test_wrong_settings_end_every_command_that_needs_them(folder: Path) -> None:
    write(folder, {"a.py": "", config_file.FILE: "\nexlude = []\n"})
    told = "unknown key `exlude` in concordance.toml, line 2; did you mean `exclude`?"
    assert concord("build", folder, code=2).stderr.startswith(f"concord: {told}")
    for command in (store_update.build, builds.write_book, builds.verify, api.Repository):
        with pytest.raises(UserError, match=re.escape(told)):
            command(str(folder))  # type: ignore[operator]


def test_all_keys(folder: Path) -> None:
    write(folder, {"src/a.py": "", "include/a.h": ""})
    found = said(
        folder,
        """
        include = ["src/", "*.md"]
        exclude = ["*.log", "!keep.log"]
        out = "./docs/book/"
        source = "link"
        history = true
        include_generated = true
        jobs = 1
        largest = 2000
        roots = {python = ["src", "."], c = ["include/"]}
        [categories]
        "qa/" = "test"
        "qa/data/" = "data"
        [rules]
        off = ["PY-*", "S113"]
        on = ["PY-EXEC"]
        allowed."PY-EXEC" = ["tools/"]
        [sections]
        off = ["Related Files", "Dependencies"]
        [[note]]
        path = "./src/a.py"
        text = '''
        Two
        lines'''
        [[note]]
        path = "."
        text = "All."
    """,
    )
    config = found.config
    assert (config.include, config.exclude) == (("src/", "*.md"), ("*.log", "!keep.log"))
    assert (config.jobs, config.largest, config.roots) == (1, 2000, Roots(("src", ""), ("include",)))
    assert config.categories == (("qa/", "test"), ("qa/data/", "data"))
    assert found.out == "docs/book"
    rules = tuple(
        sorted(rule for rule in ruleset.rules() if rule == "S113" or (rule[:3] == "PY-" and rule != "PY-EXEC"))
    )
    notes = (Note("src/a.py", "        Two\n        lines", 22, 24), Note("", "All.", 27, 27))
    assert found.book == Book(False, True, True, rules, (("PY-EXEC", ("tools/",)),), ("Dependencies", "Related Files"),
                              notes, config_file.FILE)  # fmt: skip
    assert found.remarks == ()


def test_defaults(folder: Path) -> None:
    assert read_settings(str(folder)) == config_file.Settings() == said(folder, "# nothing\n")
    assert said(folder, "\ufeffhistory = true\r\n").book.history
    assert said(folder, f"jobs = {config_file.JOBS}").config.jobs == core_count()  # a clone is not to fill the machine


def test_shared_file(folder: Path) -> None:
    text = "[project]\nname = 'a'\n\n[tool.concordance]\nsource = 'link'\n[tool.concordance.rules]\noff = ['S113']\n"
    found = said(folder, text, config_file.SHARED)
    assert (found.book.source, found.book.rules_off, found.remarks) == (False, ("S113",), ())
    message = wrong(folder, text + "offf = 1\n", config_file.SHARED)
    assert message.startswith("unknown key `rules.offf` in [tool.concordance] of pyproject.toml, line 8; did you mean")
    for inner in ("tool.concordance.source = 'link'\n", "[tool]\nconcordance = {source = 'link'}\n"):
        assert not said(folder, inner, config_file.SHARED).book.source
    large = "x = '" + "x" * 400_000 + "'"
    for others in ("[project\nbroken", "[tool.other]\nconcordance = 'x'\n", f"# concordance\n{large}", "\n" * 99_999):
        assert said(folder, others, config_file.SHARED) == config_file.Settings()
    assert "is not valid TOML" in wrong(folder, "[tool.concordance]\nsource = \n", config_file.SHARED)


def test_the_file_of_its_own_wins(folder: Path) -> None:
    write(folder, {"a.py": "", config_file.SHARED: "[tool.concordance]\nsource = 'link'\nhistory = true\n"})
    found = said(folder, "history = false\n")
    assert (found.book.source, found.book.history) == (True, False)
    remark = (
        "both concordance.toml and [tool.concordance] of pyproject.toml contain settings; those in concordance.toml are used"
    )
    assert found.remarks == (remark,)
    heard: list[str] = []
    builds.write_book(str(folder), None, None, 1, lambda step, done, total, word: heard.append(word))
    assert remark in heard


def test_a_file_that_leads_elsewhere_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("source = 'link'\n")
    (folder / config_file.FILE).symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(UserError, match="is a link that leads out of the repository"):
        read_settings(str(folder))
    (folder / config_file.FILE).unlink()
    os.mkfifo(folder / config_file.FILE)
    with pytest.raises(UserError, match="is not a regular file"):
        read_settings(str(folder))
    (folder / config_file.FILE).unlink()
    (folder / "docs").symlink_to(tmp_path)
    assert "A link leads out of it" in wrong(folder, "out = 'docs/book'")


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in rows:
        yield (*path, key)
        yield from _paths(inner, (*path, key))


@pytest.mark.parametrize(
    "text",
    [
        'a = 1\n"b c" . \'d\' = """x\n]["y"""\n[x . "y\\u0041"]\nz = [1, # one ]\n  "]", [2,3],\n  {q = 1, r = \'a\'}]\n',
        "a = 1979-05-27 07:32:00\nb = '''\n'''''\nc = \"\\\"#\"\nd = [\n]\ne = {}\nf.g.h = 1 # x\nf.g.i = 2\n",
        '[[n]]\np = """a"b""c"""""\n[[n]]\np=2\n[n.q]\nr=3\n[[n.m]]\na=1\n[[n.m]]\n[n.m.k]\nb=[{a=1},{a=[2]}]\n',
        (ROOT / "pyproject.toml").read_text(),
    ],
)
def test_every_key_has_its_line(text: str) -> None:
    assert set(key_lines(text)) == set(_paths(tomllib.loads(text)))
    for path, (first, last) in key_lines(text).items():
        shown = "\n".join(text.split("\n")[first - 1 : last])
        assert path[-1] == "yA" or isinstance(path[-1], int) or str(path[-1]) in shown


# --- patterns


def test_patterns_are_as_git_has_them(folder: Path) -> None:
    git(folder, "init", "-q")
    random_ = random.Random(5)
    names = ["a", "b", "ab", "ba", "a.py", "b.py", "aab", "x-y", "[a]"]
    globs = [
        "a",
        "b",
        "*",
        "*.py",
        "a*",
        "?b",
        "**",
        "[ab]",
        "[!a]b",
        "[^a]b",
        "a?",
        "*a*b*",
        "\\[a\\]",
        "\\!a",
        "[a-b]*",
    ]
    paths = sorted({"/".join(random_.choices(names, k=random_.randint(1, 4))) for _ in range(100)} | {"!a"})
    for _ in range(80):
        rows = []
        for _ in range(random_.randint(1, 4)):
            text = "/".join(random_.choices(globs, k=random_.randint(1, 3)))
            rows.append(
                f"{random_.choice(['', '', '!'])}{random_.choice(['', '', '/'])}{text}{random_.choice(['', '', '/'])}"
            )
        (folder / ".gitignore").write_text("".join(f"{row}\n" for row in rows))
        command = ["git", "check-ignore", "--no-index", "-z", "--stdin", "-v", "-n"]
        done = subprocess.run(command, cwd=folder, input="\0".join(paths).encode(), capture_output=True, check=False)
        fields = done.stdout.decode().split("\0")
        patterns = Patterns(rows)
        for line, glob, path in zip(fields[1::4], fields[2::4], fields[3::4], strict=True):
            expected = int(line) - 1 if line and not glob.startswith("!") else -1
            assert patterns.deciding(path) == expected, (rows, path)


def test_patterns_cost_little_however_they_are_made() -> None:
    name, began = "a" * 250, time.process_time()
    for hostile in (
        "*a" * 100 + "b",
        "**/" * 50 + "b",
        "/".join(["**", "*a*a*a*a*b"] * 10),
        "[" * 200,
        "?" * 250 + "*" * 49,
    ):
        patterns = Patterns([hostile])
        for number in range(20):
            patterns.deciding(f"{number}/" * 50 + name)
    assert time.process_time() - began < 5


def test_chosen() -> None:
    entries = [ListedFile(path, 0, 0) for path in ("a.py", "gen/x/a.py", "gen/keep.py", "src/a.py", "src/gen/b.py")]
    entries.append(ListedFile("src/sub", 0, 0, Skip.SUBMODULE))
    kept, left = select_entries(entries, Config(include=("src/", "gen"), exclude=("gen/*", "!gen/keep.py", "sub/")))
    assert [entry.path for entry in kept] == ["gen/keep.py", "src/a.py", "src/gen/b.py"]
    assert left == {"": 1, "gen/*": 1, "sub/": 1}
    assert select_entries(entries, Config()) == (entries, {})


# --- each works to its end


def test_files_are_left_out_with_a_trace(woods: Path) -> None:
    wanted = "include = ['*.py', 'README.md', '*.toml', 'made/']\n"
    pages = built(woods, wanted + "exclude = ['made/*', '!made/b.log', 'run.py']\n")
    paths = set(ledger(woods))
    assert {"tools/make.py", "made/b.log", "README.md"} <= paths
    assert paths.isdisjoint({"made/a.py", "run.py", "one/leaf.h"})
    assert "run.py_docs.md" not in pages and "made/b.log_docs.md" in pages
    report = pages["verification_report.md"]
    assert "## Excluded Files\n\n6 files excluded by the repository's settings" in report
    assert "| no pattern of `include` matches | 4 |" in report
    assert "| `made/*` | 1 |" in report
    assert "| `run.py` | 1 |" in report
    assert "run.py" not in pages["lib/woods/tree.py_docs.md"]  # nobody sees it any more
    done = concord("define", "run.py:1:1", "--repo", woods, code=2)
    assert "no file run.py. The repository's settings leave files out: see `include` and `exclude`" in done.stderr
    assert "Excluded Files" not in built(woods, "")["verification_report.md"]
    assert "run.py" in ledger(woods)


def test_out_and_what_the_command_line_says(woods: Path, tmp_path: Path) -> None:
    write(woods, {config_file.FILE: "out = 'docs'\nsource = 'link'\nhistory = true\ninclude_generated = true\njobs = 1\n"})
    pages = built(woods)
    assert not (woods / ".concordance" / "book").exists() and (woods / "docs" / "index.md").exists()
    assert "def grow" not in pages["lib/woods/tree.py_docs.md"].partition("## Original Source")[2][:100]
    assert "**Changes**: 1 commit" in pages["lib/woods/tree.py_docs.md"]
    assert "docs/run.py_docs.md_docs.md" in pages
    assert concord("verify", cwd=woods).stdout.startswith("0 problems")
    out = tmp_path / "elsewhere"
    concord("build", woods, "--out", out, "--source", "full", "--no-history", "--no-include-generated")
    page = books.pages(out)["lib/woods/tree.py_docs.md"]
    assert "def grow" in page.partition("## Original Source")[2] and "**Changes**" not in page
    assert "docs/run.py_docs.md_docs.md" not in books.pages(out)


def test_categories(woods: Path) -> None:
    roots = "roots.python = ['lib']\n"
    assert ledger_of(woods, roots)["qa/probe.py"] == "source"
    found = ledger_of(woods, f"{roots}[categories]\n'qa/' = 'test'\n'made/' = 'vendored'\n'made/*.py' = 'generated'\n")
    assert (found["qa/probe.py"], found["made/a.py"], found["made/b.log"]) == ("test", "generated", "vendored")
    assert asked(woods, "tests", "lib/woods/tree.py")[0]["path"] == "qa/probe.py"  # what follows from it does, too
    assert ledger_of(woods, roots)["qa/probe.py"] == "source"
    assert asked(woods, "tests", "lib/woods/tree.py") == []


def ledger_of(root: Path, text: str) -> dict[str, str]:
    (root / config_file.FILE).write_text(text)
    store_update.build(str(root), 1)
    return {path: file.category for path, file in ledger(root).items()}


@pytest.mark.parametrize("first", ["lib", "extra"])
def test_python_roots(woods: Path, first: str) -> None:
    write(woods, {config_file.FILE: f"roots.python = ['{first}']\n"})
    assert asked(woods, "define", "run.py:5:5")[0]["path"] == f"{first}/woods/tree.py"
    second = "extra" if first == "lib" else "lib"
    write(woods, {config_file.FILE: f"roots.python = ['{second}']\n"})
    assert asked(woods, "define", "run.py:5:5")[0]["path"] == f"{second}/woods/tree.py"


def test_include_roots(woods: Path) -> None:
    for first in ("one", "two"):
        write(woods, {config_file.FILE: f"roots.c = ['{first}', 'gone']\n"})
        assert asked(woods, "imports", "src/leaf.c")[0]["target"] == f"{first}/leaf.h"
    assert read_settings(str(woods)).remarks == (
        "`roots.c` in concordance.toml, line 1, names gone, which is not a folder",
    )


def test_rules(woods: Path) -> None:
    tree, make = "lib/woods/tree.py_docs.md", "tools/make.py_docs.md"
    pages = built(woods, "")
    assert "`PY-EXEC`" in pages[tree] and "`PY-EXEC`" in pages[make] and "`PY-SHELL`" in pages[tree]
    count = int(re.search(r"No findings \(\[(\d+) security rules", pages["run.py_docs.md"])[1])  # type: ignore[index]
    pages = built(woods, "[rules]\noff = ['PY-*']\non = ['PY-EXEC']\n[rules.allowed]\nPY-EXEC = ['tools/']\n")
    assert "`PY-EXEC`" in pages[tree] and "`PY-SHELL`" not in pages[tree] and "PY-EXEC" not in pages[make]
    assert "book/rules/PY-SHELL.md" not in pages and "book/rules/PY-EXEC.md" in pages
    assert "make.py" not in pages["book/rules/PY-EXEC.md"]
    fewer = [
        int(number) for number in re.findall(r"No findings \(\[(\d+) security rules", pages["run.py_docs.md"] + pages[make])
    ]
    assert fewer[0] < count and fewer[1] == fewer[0] - 1  # what is not looked for is not said to be
    assert "rules for Python" in built(woods, "[rules]\noff = ['*']\n")["run.py_docs.md"]


@pytest.mark.parametrize("off", [[Section.OVERVIEW, Section.SECURITY], list(Section)], ids=["two", "all"])
def test_sections(woods: Path, off: list[Section]) -> None:
    page = built(woods, f"[sections]\noff = {[str(section) for section in off]}\n")["lib/woods/tree.py_docs.md"]
    titles = re.findall(r"^## (.*)$", page, re.M)
    every = [
        "File Metadata",
        "File Purpose",
        "Original Source",
        "High-Level Overview",
        "Detailed Analysis",
        *Section,
        "Cross-References",
    ]
    assert titles == [title for title in dict.fromkeys(every) if title not in off]


def test_largest(woods: Path) -> None:
    for text, skip in (("", ""), ("largest = 1000\n", "too_large"), ("largest = 3000", "")):
        (woods / config_file.FILE).write_text(text)
        assert store_update.build(str(woods), 1).read in (1, 2, len(FILES) + 1)  # settings, and what they are about
        assert ledger(woods)["long.txt"].skip == skip


def test_notes(woods: Path) -> None:
    text = """
[[note]]
path = "lib/woods/tree.py"
text = '''
Ask **Ada** before you touch `grow`.

<script>alert(1)</script> [x](javascript:alert(1)) [out](../../etc/passwd)
# A heading
```
an open fence'''
[[note]]
path = "lib"
text = "All of ours."
[[note]]
path = "."
text = "The whole."
[[note]]
path = "gone.py"
text = "Nobody knows."
"""
    pages = built(woods, text)
    page = pages["lib/woods/tree.py_docs.md"]
    _, _, rest = page.partition("## Owners' Notes\n\n")
    assert rest.startswith("The owners' own words, from [`concordance.toml`][1], [L4–10](")
    assert "\n[1]: ../../concordance.toml_docs.md\n" in page
    assert "> Ask **Ada** before you touch `grow`." in rest and "## File Purpose" in rest
    assert books.is_safe(page) == []
    assert re.findall(r"^#+ .*$", page, re.M).count("# A heading") == 0
    assert "> All of ours." in pages["lib/doc.md"] and "> The whole." in pages["doc.md"]
    assert "| `gone.py` | concordance.toml, line 19 |" in pages["verification_report.md"]
    assert sum("Owners' Notes" in page for page in pages.values()) == 3
    # The lines are claims: who moves the note makes the page stale, and `verify` says so.
    (woods / config_file.FILE).write_text("# one line more\n" + text)
    problems = builds.verify(str(woods), None, 1, ignore_progress).problems
    assert {"lib/woods/tree.py_docs.md", "lib/doc.md", "doc.md"} <= {problem.page for problem in problems}
    moved = page.replace("L4–10", "L5–11").replace("L4-L10", "L5-L11").replace("[L3]", "[L4]").replace("toml#L3", "toml#L4")
    assert built(woods)["lib/woods/tree.py_docs.md"] == moved


def test_notes_of_a_file_that_is_left_out(woods: Path) -> None:
    write(woods, {"a|`<b>x.md": ""})
    text = "exclude = ['concordance.toml', 'a|`<b>*']\n[[note]]\npath = 'run.py'\ntext = 'Runs.'\n"
    pages = built(woods, text + "[[note]]\npath = '`|<b>](x)'\ntext = 'Nothing.'\n")
    assert "The owners' own words, from `concordance.toml`, line 4:\n\n> Runs.\n" in pages["run.py_docs.md"]
    report = pages["verification_report.md"]
    assert books.is_safe(report) == []
    assert [row for row in report.split("\n") if "<b>" in row] == [
        "| `` a\\|`<b>* `` | 1 |", "| `` `\\|<b>](x) `` | concordance.toml, line 7 |",
    ]  # fmt: skip


# --- the next build


CHANGES = [
    "exclude = ['made/', '*.h']\n[categories]\n'qa/' = 'test'\n",
    "include = ['lib/', '/*.py', 'qa/']\n[categories]\n'qa/' = 'benchmark'\n'lib/' = 'vendored'\n",
    "largest = 1000\nroots.python = ['extra']\n[rules]\noff = ['PY-SHELL']\n",
    "roots = {python = ['lib'], c = ['two']}\n[rules.allowed]\nPY-EXEC = ['tools/']\n[sections]\noff = ['Dependencies']\n",
    "exclude = ['concordance.toml']\n[[note]]\npath = 'run.py'\ntext = 'Runs.'\n",
    "exclude = ['concordance.toml']\n[[note]]\npath = 'lib'\ntext = 'Here.'\n",
]  # fmt: skip


def test_the_next_build_is_as_a_clean_one(woods: Path, tmp_path: Path) -> None:
    builds.write_book(str(woods), None, None, 1, ignore_progress)
    for number, text in enumerate(CHANGES):
        (woods / config_file.FILE).write_text(text)
        builds.write_book(str(woods), None, None, 1, ignore_progress)
        clean = tmp_path / str(number) / woods.name
        shutil.copytree(woods, clean, ignore=shutil.ignore_patterns(".concordance"))
        builds.write_book(str(clean), None, None, 1, ignore_progress)
        ours, theirs = (books.contents(root / ".concordance" / "book") for root in (woods, clean))
        assert ours == theirs, text


def test_a_file_that_is_left_out_changes_the_report_alone(woods: Path) -> None:
    built(woods, "exclude = ['made/']\n")
    age(woods)
    builds.write_book(str(woods), None, None, 1, ignore_progress)
    write(woods, {"made/c.py": "MORE = 1\n"})
    summary, written = builds.write_book(str(woods), None, None, 1, ignore_progress)
    assert (summary.read, summary.left_out) == (0, {"made/": 3})
    assert written.changed == ["verification_report.md"]
    assert "| `made/` | 3 |" in books.pages(Path(written.out))["verification_report.md"]


def test_a_note_changes_its_page_alone(woods: Path) -> None:
    for text in ("# no note\n", "[[note]]\npath = 'run.py'\ntext = 'x'\n", "[[note]]\npath = 'run.py'\ntext = 'y'\n"):
        write(woods, {config_file.FILE: text})
        age(woods)
        _, written = builds.write_book(str(woods), None, None, 1, ignore_progress)
        assert ("lib/woods/tree.py_docs.md" in written.changed) is text.startswith("#")
        assert "run.py_docs.md" in written.changed
    assert set(written.changed) <= {
        "run.py_docs.md", "concordance.toml_docs.md", "concordance.toml_kw.md", "verification_report.md"
    }  # fmt: skip


def test_what_changes_pages_alone_reads_nothing(woods: Path) -> None:
    outside = "[tool.concordance]\n"
    write(woods, {config_file.SHARED: FILES[config_file.SHARED] + outside})
    builds.write_book(str(woods), None, None, 1, ignore_progress)
    for text in ("rules = {off = ['S113']}\n", "[[tool.concordance.note]]\npath = 'run.py'\ntext = 'x'\n"):
        (woods / config_file.SHARED).write_text(FILES[config_file.SHARED] + outside + text)
        summary, written = builds.write_book(str(woods), None, None, 1, ignore_progress)
        assert (summary.read, written.written > 0) == (1, True)
    summary, written = builds.write_book(str(woods), None, None, 1, ignore_progress)
    assert (summary.read, written.written) == (0, 0) or summary.read == 1  # it was written just now


def test_history_takes_no_part_in_a_book_without_it(woods: Path) -> None:
    for number in range(3):
        write(woods, {"run.py": FILES["run.py"] + f"# {number}\n", "long.txt": f"{number}\n"})
        git(woods, "commit", "-q", "-a", "-m", "together")
    age(woods)
    reasons = {row["path"]: row["reasons"] for row in asked(woods, "related", "long.txt")}
    assert "changed together 4 times" in reasons["run.py"]
    for text, expected in (("", False), ("history = true\n", True)):
        pages = built(woods, text)
        assert ("changed together" in pages["long.txt_docs.md"]) is expected


# --- init


def test_init_writes_defaults_and_what_was_found(woods: Path) -> None:
    write(woods, {"CMakeLists.txt": "include_directories(one)\n"})
    done = concord("init", woods)
    assert "Next: remove the #" in done.stdout and "concord build" in done.stdout
    path = woods / config_file.FILE
    text = path.read_text()
    assert read_settings(str(woods)) == config_file.Settings()
    for key in (*config_file.KEYS, *Category, *Section, "python", "c", "off", "on", "allowed"):
        assert re.search(rf"\b{re.escape(key)}\b", text), key
    assert max(map(len, text.splitlines())) <= 120
    path.write_text(re.sub(r"^#(?=[\[\w])", "", text, flags=re.M))
    found = read_settings(str(woods))
    assert found.config.roots.c == ("one",)
    assert set(found.config.roots.python) >= {"lib", "extra", ""}
    assert config_file.Settings(Config(roots=found.config.roots)) == found
    examples = re.sub(r"^#   ", "", re.sub(r"^#(?=[\[\w])", "", text, flags=re.M), flags=re.M)
    examples = re.sub(r"^(source, test|\"(File|Perf)).*$", "", examples, flags=re.M)
    path.write_text(examples)
    found = read_settings(str(woods))
    assert found.config.categories and found.book.allowed and found.book.notes


def test_init_overwrites_nothing(woods: Path) -> None:
    write(woods, {config_file.FILE: "source = 'link'\n"})
    assert "already exists, and is not overwritten. Edit it" in concord("init", woods, code=2).stderr
    assert (woods / config_file.FILE).read_text() == "source = 'link'\n"
    (woods / config_file.FILE).unlink()
    write(woods, {config_file.SHARED: "[tool.concordance]\n"})
    assert "pyproject.toml already contains settings" in concord("init", cwd=woods, code=2).stderr
    assert not (woods / config_file.FILE).exists()
    assert "does not exist" in concord("init", woods / "nowhere", code=2).stderr


def test_init_finds_a_book(woods: Path) -> None:
    builds.write_book(str(woods), str(woods / "docs"), None, 1, ignore_progress)
    concord("init", woods)
    assert read_settings(str(woods)).out == "docs"


def test_every_key_is_documented() -> None:
    text = (ROOT / "docs" / "settings.md").read_text()
    for key in (*config_file.KEYS, "roots.python", "roots.c", "rules.off", "rules.on", "rules.allowed", "sections.off"):
        assert f"`{key}`" in text, key
    for word in (*Category, *Section):
        assert word in text
    for example in re.findall(r"```toml\n(.*?)```", text, re.S):
        tomllib.loads(example)
