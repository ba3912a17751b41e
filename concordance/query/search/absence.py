"""What pages and commands may say where a search found nothing.

In: a file or a language. Out: sentences. "None" is a claim about the whole program, which no static search can prove:
names are made at run time, by macros and by the build. So every sentence says what was searched and what the search
cannot see, and none is made where something refers to the file in another way: a build file, a script, a document or a
string that names it, or the header through which others use what it defines. What a single file contains can be said
outright, if all of it was understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from concordance.base.blocks import Piece, Ref, To, count_noun, join_in_sentence
from concordance.base.model import Category, File, Kind, Skip, Trust
from concordance.extract.registry import is_analysed, language_of
from concordance.query.index.file_model import FileModel
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.ledger import outline
from concordance.query.index.repository import Index

_UNSEEN_NAMES = "names made at run time, names that many files share"
_MAX_FILES = 3  # files that are listed one by one
# Files that nothing refers to, because tools look for them where they are.
_FOUND_BY_NAME = re.compile(
    r"(?:^|/)(?:\.(?:clang-(?:format|tidy)|editorconfig|git(?:ignore|attributes|modules)|coveragerc|flake8|pylintrc"
    r"|pre-commit-config\.yaml|readthedocs\.ya?ml|travis\.yml|gitlab-ci\.yml|mailmap|dockerignore|npmrc|nvmrc"
    r"|(?:eslint|prettier|babel)rc(?:\.\w+)?|codecov\.yml)|tox\.ini|pytest\.ini|conftest\.py|setup\.(?:py|cfg)"
    r"|pyproject\.toml|MANIFEST\.in|(?:GNU)?[Mm]akefile|Makefile\.am|configure\.ac|CMakeLists\.txt|CMakePresets\.json"
    r"|package(?:-lock)?\.json|tsconfig\.json|Cargo\.(?:toml|lock)|src/(?:main|lib)\.rs|src/bin/(?:[^/]+|[^/]+/main)\.rs"
    r"|(?:tests|examples|benches)/[^/]+\.rs|build\.rs|go\.(?:mod|sum)|pom\.xml|build\.gradle(?:\.kts)?|Dockerfile|Doxyfile"
    r"|BUILD(?:\.bazel)?|WORKSPACE(?:\.bazel)?|MODULE\.bazel|CODEOWNERS|FUNDING\.yml|dependabot\.yml|appveyor\.yml"
    r"|\.github/(?:workflows/[^/]+\.ya?ml|ISSUE_TEMPLATE/[^/]+|(?:issue|pull_request)_template\.md))$",
    re.I,
)

_IMPORTED = (Category.SOURCE, Category.TEST, Category.EXAMPLE, Category.BENCHMARK)  # settings and documents are not
_SKIPPED = {
    Skip.BINARY: "binary", Skip.TOO_LARGE: "too large to be parsed", Skip.SYMLINK: "a symbolic link",
    Skip.SUBMODULE: "a submodule", Skip.UNREADABLE: "unreadable",
}  # fmt: skip


def is_linked(file: File) -> bool:
    """True if imports and names in files of this language are resolved."""
    return file.skip == Skip.NONE and bool(language_of(file.language).unseen)


def not_analysed(file: File) -> str:
    """Return the sentence for a file in a language without a reader; "" for other files."""
    if file.skip != Skip.NONE or is_analysed(file.language):
        return ""
    return f"{language_of(file.language).title} is recognised but not analysed."


def skip_reason(file: File) -> str:
    """Return the reason why a file is not shown."""
    why = _SKIPPED.get(Skip(file.skip), file.skip)
    return f"{file.type}, {why}{f', {file.note}' if file.note else ''}."


def unread_languages(index: Index) -> str:
    """Return a clause on the languages of the repository that are not analysed, by number of files; "" if none are."""
    counts = sorted((-count, language_of(name).title) for name, count in index.counts.items() if not is_analysed(name))
    if not counts:
        return ""
    titles = [title for _, title in counts]
    listed = "".join(map(str, join_in_sentence(list(titles[:_MAX_FILES]))))
    more = f" and {count_noun(len(titles) - _MAX_FILES, 'other language')}" if len(titles) > _MAX_FILES else ""
    return f"{listed}{more} {'is' if len(titles) == 1 else 'are'} recognised but not analysed"


def no_users(model: FileModel) -> list[Piece]:
    """Return what is known about a file for which no import and no use of a name was found in other files."""
    if model.file.skip == Skip.SYMLINK:
        return ["Uses of a symbolic link are listed for the file that it leads to."]
    typed = f"{model.path.removesuffix('.pyi')}.py"
    if model.path.endswith(".pyi") and typed in model.index.files:
        return ["Type checkers read it in place of ", Ref(To.FILE, typed), "."]
    others, is_sure = _referring_files(model.index, [model.path])
    is_test = model.index.is_whole_test(model.path) or any(identity in model.index.tests for identity in model.ids)
    if is_test and not is_sure:
        others = []  # files often have the same name as a test
    headers = _declaring_headers(model)
    if others and not headers:
        refer = "may refer to it" if not is_sure else "refers to it" if len(others) == 1 else "refer to it"
        is_imported = is_linked(model.file) and model.file.category in _IMPORTED
        linked = f"No import {_or_use(model.file)}was found; " if is_imported else ""
        return [linked, *_listed(others), f" {refer}: see Across Languages."]
    if headers:
        declare = "declares" if len(headers) == 1 else "declare"
        if others:
            return [*_listed(headers), f" {declare} names that it defines; other references: see Across Languages."]
        other = f"no other reference to it was found{_limits(model.file)}."
        return [*_listed(headers), f" {declare} names that it defines; {other}"]
    if model.path.endswith("/__init__.py"):
        return [f"No direct reference to it was found{_limits(model.file)}; imports from its package run it."]
    package = f"{model.path.rpartition('/')[0]}/__init__.py"
    others, is_sure = _referring_files(model.index, [package] if model.path.endswith(".py") else [])
    if is_sure:
        names = "names" if len(others) == 1 else "name"
        return ["No import or use of its names was found; ", *_listed(others), f" {names} its package."]
    if is_test and not language_of(model.file.language).has_prototypes:
        return [f"No reference to it was found{_limits(model.file)}; test runners find tests by themselves."]
    if twin := _under_another_condition(model):
        link = Ref(To.FILE, twin, "", twin)
        return ["Its definitions are also in ", link, ", under another condition: uses of them are linked to those."]
    if _runs_with_its_package(model):
        return [f"No reference to it was found{_limits(model.file)}; imports of its package run it."]
    if _FOUND_BY_NAME.search(model.path):
        return [f"No reference to it was found{_limits(model.file)}; tools find it by its path."]
    return [f"No reference to it was found{_limits(model.file)}."]


def _declaring_headers(model: FileModel) -> list[str]:
    """Return the files that declare what a file defines; a name with several overloads counts if one file has them."""
    index = model.index
    defined = (other for place, other in model.counterparts.items() if not model.symbols[place].declaration)
    paths = set(map(index.path_of, defined))
    if paths or not language_of(model.file.language).has_prototypes:
        return sorted(paths)
    included = {path for _, target, _ in model.imports if target is not None for path in target.paths}
    for symbol in model.symbols:
        if symbol.kind == Kind.FUNCTION and symbol.public and not symbol.declaration and symbol.key != "main":
            key = symbol.key.partition("+")[0]
            declaring = {index.path_of(other) for other in index.namesakes(key, True)} - {model.path}
            paths |= declaring if len(declaring) == 1 else declaring & included
    return sorted(paths)


def _runs_with_its_package(model: FileModel) -> bool:
    """True if imports name the package of a file, not the file, and load all of its files."""
    language = language_of(model.file.language)
    if not language.imports_folders or language.imports_by_name:
        return False
    return all(symbol.kind != Kind.NAMESPACE or symbol.name != "main" for symbol in model.symbols)


def _under_another_condition(model: FileModel) -> str:
    """Return the file of the same package of Go that defines the same name, under another build constraint; "" if
    there is none."""
    name = next((symbol.key for symbol in model.symbols if symbol.parent < 0 and symbol.kind != Kind.NAMESPACE), "")
    if model.file.language != "go" or name in ("", "init", "main"):
        return ""
    beside = (path for path in model.index.files_in(model.path.rpartition("/")[0]) if path.endswith(".go"))
    others = (path for path in beside if path != model.path and not path.endswith("_test.go"))
    return next((path for path in others if any(one.key == name for one in outline(model.index, path).symbols)), "")


def _or_use(file: File) -> str:
    """Return a clause on the uses of a file's names, if such uses are linked even without an import of the file."""
    language = language_of(file.language)
    return "or use of its names " if language.imports_by_name or language.has_prototypes else "of it "


def no_users_of_folder(index: Index, paths: Sequence[str]) -> list[Piece]:
    """Return what is known about a folder if no use between its files and the rest was found; "" if none is expected.

    `paths` are the files in the folder and below it.
    """
    inside = frozenset(paths)
    referring, is_sure = _referring_files(index, paths)
    others = [path for path in referring if path not in inside]
    if others:
        refer = "may refer" if not is_sure else "refers" if len(others) == 1 else "refer"
        return [*_listed(others), f" {refer} to its files by path or name, or across languages."]
    if not any(is_linked(index.files[path]) for path in paths):
        return []
    return ["No import or use of a name was found between its files and the rest of the repository."]


def _referring_files(index: Index, paths: Iterable[str]) -> tuple[list[str], bool]:
    """Return the files that refer to some files across languages, or by path or name; False if all are guesses."""
    table = bridges_of(index)
    rows = [row for path in paths for row in table.unsorted_into(path)]
    return sorted({index.path_of(row.source) for row in rows}), any(row.trust > Trust.CANDIDATE for row in rows)


def _listed(paths: Sequence[str]) -> list[Piece]:
    """Return links to files; all if there are few, else the first ones and how many more there are."""
    left = len(paths) - _MAX_FILES
    refs: list[Piece] = [Ref(To.FILE, path) for path in paths[:_MAX_FILES]]
    return join_in_sentence([*refs, *([count_noun(left, "other file")] if left > 0 else [])])


def _limits(file: File) -> str:
    if not is_linked(file):
        return f" by path or name (not seen: {_UNSEEN_NAMES})"
    return f" by import, name or path (not seen: {language_of(file.language).unseen})"


def no_imports(model: FileModel) -> str:
    """Return a sentence for a file in which no imports were found."""
    if not_analysed(model.file):
        return "Imports are not extracted."
    if not is_linked(model.file):
        return f"{model.file.type}: imports are not extracted."
    if model.facts.metrics.errors:
        return "No imports found; parts of the file could not be parsed."
    return "No imports."


def files_searched(index: Index, folder: str = "") -> str:
    """Return a note on how many files were searched: all, or those below a folder."""
    count = sum(path.startswith(f"{folder}/") for path in index.categories) if folder else len(index.file_rows)
    return f"{count_noun(count, 'file')}{f' in {folder}' if folder else ''} searched"


def searched(index: Index, language: str) -> str:
    """Return a note on how many files of a language were searched, and what the search cannot see."""
    count, unread = count_noun(index.counts[language], f"{language_of(language).title} file"), unread_languages(index)
    return f"{count} searched{unseen(language)}" + (f"; {unread}" if unread else "")


def unseen(language: str) -> str:
    """Return a clause on the uses of files of a language that a search cannot see; "" if none are searched."""
    return f"; not seen: {language_of(language).unseen}" if language_of(language).unseen else ""
