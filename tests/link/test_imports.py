"""Literate cases of resolving imports (`tests/cases/link/imports`): small repositories, and where each import leads.

The fenced files up to a block `imports` are one repository (`` ```link a/b `` is a symbolic link whose text is its
target). A line of the block is `PATH:LINE MODULE [NAME] -> ORIGIN [PACKAGE] [PATHS]`; the block must list all imports
of each file that it names; words behind `by` explain a line.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from concordance.base import plugins
from concordance.base.model import File, Import, Skip, Target
from concordance.collect import walk
from concordance.collect.classify import Classifier, header_language
from concordance.extract import engine, registry
from concordance.link.paths.ignored import GitIgnore
from concordance.link.paths.tree import Tree, join_path

HOME = Path(__file__).parents[1] / "cases" / "link" / "imports"
LANGUAGES = "concordance.link.languages"
_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*(\S*)[ \t]*(.*?)[ \t]*\n(.*?)^\1[ \t]*$", re.M | re.S)
_LINE = re.compile(r"(\S+):(\d+) (.*?) -> (.*?)(?: by (.*))?$")


def repositories(case: Path) -> list[tuple[dict[str, tuple[str, str]], list[str]]]:
    """Return the repositories of a case: files by path with language and text, and the expected lines."""
    found: list[tuple[dict[str, tuple[str, str]], list[str]]] = []
    files: dict[str, tuple[str, str]] = {}
    for _, info, name, body in _FENCE.findall(case.read_text()):
        if info == "imports":
            found.append((files, [line for line in body.splitlines() if line.strip()]))
            files = {}
        else:
            files[name] = (info, body)
    return found


def laid_out(root: Path, files: dict[str, tuple[str, str]]) -> tuple[Tree, dict[str, list[Import]]]:
    """Write a repository to disk; return its imports."""
    for path, (info, body) in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if info == "link":
            (root / path).symlink_to(body.strip())
        else:
            (root / path).write_text(body)
    entries = walk.walk(str(root))
    classifier = Classifier(registry.languages(), 10_000_000, header_language(e.path for e in entries))
    ledger, imports = [], {}
    for entry in entries:
        if entry.skip is not Skip.NONE:
            form, text = classifier.unread(entry.path, entry.skip, entry.note), ""
        else:
            form, text = classifier.read_text(entry.path, walk.read(str(root), entry))
            imports[entry.path] = list(engine.extract(text, form.language).imports)
        ledger.append(
            File(entry.path, form.language, form.category, form.type, form.encoding, entry.size, 0, "", form.skip, form.note, 0)
        )
    return Tree(str(root), ledger), imports


def said(target: Target) -> str:
    return " ".join(filter(None, (str(target.origin), target.package, *target.paths)))


def problems(root: Path, files: dict[str, tuple[str, str]], lines: list[str]) -> list[str]:
    """Return the differences between the imports found and those expected."""
    tree, imports = laid_out(root, files)
    resolvers = {}
    for name in plugins.names(LANGUAGES):
        module = plugins.load(LANGUAGES, name)
        resolvers.update(dict.fromkeys(module.LANGUAGES, module.imports(tree)))
    wrong, listed = [], set()
    for line in lines:
        match = _LINE.match(line)
        assert match, f"cannot read `{line}`"
        path, number, words, expected, by = match.groups()
        rows = [row for row in imports.get(path, ()) if row.line == int(number) and f"{row.module} {row.name}".strip() == words]
        listed.update((path, row) for row in rows)
        if not rows:
            wrong.append(f"{line}: no such import; there are {[(r.line, r.module, r.name) for r in imports.get(path, ())]}")
            continue
        target = resolvers[tree.language(path)](path, rows[0])
        if not (said(target) == expected or (" " not in expected and target.origin == expected)):
            wrong.append(f"{line}: found {said(target)} by {target.by}")
        elif by and by not in target.by:
            wrong.append(f"{line}: found by {target.by}")
    for path in {path for path, _ in listed}:
        wrong += [f"{path}:{r.line} {r.module} {r.name} is not listed" for r in imports[path] if (path, r) not in listed]
    return wrong


CASES = sorted(HOME.glob("*.md"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_imports(case: Path, tmp_path: Path) -> None:
    wrong = []
    found = repositories(case)
    assert found
    for number, (files, lines) in enumerate(found):
        root = tmp_path / str(number)
        root.mkdir()
        wrong += problems(root, files, lines)
    assert not wrong, "\n".join(wrong)


def test_every_language_that_imports_has_a_case() -> None:
    assert {case.stem for case in CASES} == set(plugins.names(LANGUAGES))


def test_paths_stay_in_the_repository() -> None:
    assert join_path("a/b", "../c/./d") == "a/c/d"
    assert join_path("a", "../..") is None
    assert join_path("", "x//y") == "x/y"


def test_a_tree_reads_nothing_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeffwords")
    (tmp_path / "dir").mkdir()
    tree, _ = laid_out(tmp_path, {"gone": ("link", "nowhere")})
    assert tree.text("a.txt") == "words"
    assert tree.text("gone") == tree.text("dir") == tree.text("../a.txt") == tree.text("nothing") == ""
    assert tree.file("gone") == "" and tree.folder("") == ""


NASTY = ["", ".", "..", "/", "//", "../../../..", "a" * 5000, "::", "@", "@//", "$", "${", "$(X", "#", "?", "*", "[", "\0", "\ud800", "C:\\a\\b.h", "~", "node:", "crate::", "<x", "a\nb"]
BROKEN = {
    "pyproject.toml": "[project]\nname = 3\ndependencies = {a = 1}\n[tool.hatch.build]\ntargets = [1]\n[tool.setuptools]\npackage-dir = ['x']\n",
    "inner/pyproject.toml": "a = " + "[" * 5000,
    "setup.cfg": "[options]\ninstall_requires\n  x\n",
    "setup.py": "setup(package_dir={1: 2}, install_requires=3, ext_modules=[Extension()])",
    "package.json": '{"name": 3, "workspaces": {"packages": 3}, "exports": [["x"], {"a": 1}], "imports": 3, "dependencies": [1]}',
    "deep/package.json": '{"exports": ' + '{"a": ' * 3000,
    "tsconfig.json": '{"extends": ["./tsconfig.json", 3], "compilerOptions": {"baseUrl": 3, "paths": {"*": 3}}} /*',
    "go.mod": "module\nreplace a => ../../..\n",
    "Cargo.toml": "[package]\nname = 'a'\n[lib]\nname = 3\npath = 4\n[dependencies]\na = {path = '../../..'}\n[[bin]]\npath = 3\n",
    ".gitignore": "[\n[!a\n!\n/\n**/\na[z-a]b\n" + "*a" * 50,
    ".gitmodules": "path =\n path = ../x\n",
    "CMakeLists.txt": "set(A ${A})\ninclude_directories(${A} \"\")\nlist()\n",
    "WORKSPACE": 'local_repository(name = "q", path = "../..")\n',
    "Makefile": "X = -I -I$( -I$(A)\n",
    "a/x.py": "",
    "src/lib.rs": "",
}  # fmt: skip


def test_no_words_and_no_settings_break_it(tmp_path: Path) -> None:
    tree, _ = laid_out(tmp_path, {path: ("text", body) for path, body in BROKEN.items()})
    forms = ("", "local", "system", "mod", "stage", "copy", "include", "find_package", "toctree", "autoclass", "link")
    for plug_in in plugins.names(LANGUAGES):
        resolve = plugins.load(LANGUAGES, plug_in).imports(tree)
        for words in NASTY:
            for form in forms:
                for name in ("", "*", "x", ".."):
                    target = resolve("a/x.py" if plug_in != "rust" else "src/lib.rs", Import(1, 1, words, name, form=form))
                    assert all(path in tree.paths for path in target.paths), (plug_in, words, form)


def test_a_long_list_of_ignored_files_is_read_in_part(tmp_path: Path) -> None:
    """Each pattern takes time to compile, and anybody can write a million of them."""
    ignored = "".join(f"made{number}.h\n" for number in range(2_001))
    tree, _ = laid_out(tmp_path, {".gitignore": ("text", ignored)})
    assert [GitIgnore(tree).ignored_by(f"made{number}.h") for number in (0, 1_999, 2_000)] == [".gitignore", ".gitignore", ""]


def test_the_order_of_questions_changes_nothing(tmp_path: Path) -> None:
    for number, case in enumerate(CASES):
        for place, (files, _) in enumerate(repositories(case)):
            root = tmp_path / f"{number}-{place}"
            root.mkdir()
            tree, imports = laid_out(root, files)
            asked = [(path, row) for path, listed in imports.items() for row in listed]
            answers = []
            for order in (asked, asked[::-1]):
                fresh = Tree(tree.root, tree.files.values())
                loaded = [plugins.load(LANGUAGES, one) for one in plugins.names(LANGUAGES)]
                resolvers = {language: m.imports(fresh) for m in loaded for language in m.LANGUAGES}
                answers.append({q: resolvers[fresh.language(q[0])](*q) for q in order if fresh.language(q[0]) in resolvers})
            assert answers[0] == answers[1]
