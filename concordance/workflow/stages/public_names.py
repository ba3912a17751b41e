"""Finds public names after all files are linked, and stores them.

In: what each Python module exports, and what each document documents. Out: two values in the store: these inputs, and
by file the names under which users import its definitions. An update only looks at files that were extracted or linked
again; if their exports are unchanged, all names are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from concordance.base.model import Category
from concordance.facts.codec import PUBLIC, FileNames, PublicName, pack_names, unpack_flow
from concordance.facts.write import StoreWriter
from concordance.link.paths.tree import enclosing_folders
from concordance.passes.public_names import (
    ExportedNames,
    ModuleExports,
    is_encodable,
    pack_exports,
    public_names,
    read_documented_names,
    read_exports,
    unpack_exports,
)

EXPORTS = "offered"  # key in the store of the inputs
_CODE = frozenset(("python", "cython"))
_DOCUMENTS = frozenset(("rst", "markdown"))
_SPEAKING = _CODE | _DOCUMENTS
_TRIALS = frozenset((Category.TEST, Category.EXAMPLE, Category.BENCHMARK, Category.DOCUMENTATION))
_TRIES = re.compile(r"(?:^|/)tests/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|tests|conftest)\.\w+$")
_PROJECTS = frozenset(("setup.py", "setup.cfg", "pyproject.toml"))
_INIT = re.compile(r"(?:^|/)__init__\.\w+$")


def run(writer: StoreWriter) -> None:
    """Find the public names of all files."""
    files = writer.files()
    exports = ModuleExports({}, {}, [], [])
    _collect_exports(writer, ((identity, path, language) for identity, path, language, _ in files), exports)
    _put(writer, exports._replace(not_importable=_test_modules(files), roots=_roots(files)))


def update(writer: StoreWriter) -> None:
    """Find public names again if an update has changed their inputs."""
    delta = writer.delta
    changed = (
        had.id for path, had in delta.previous.items() if path in delta.flows_changed or had.language in _DOCUMENTS
    )
    again = {*changed, *delta.links}
    if not delta.files_changed and not any(writer.queries.language(identity) in _SPEAKING for identity in again):
        return
    files = writer.files()
    exports = unpack_exports(writer.queries.analysis_result(EXPORTS))
    before = exports._replace(modules=dict(exports.modules), documents=dict(exports.documents))
    for path, had in delta.previous.items():
        if had.id in again:
            exports.modules.pop(path, None)
            exports.documents.pop(path, None)
    rows = ((identity, path, language) for identity, path, language, _ in files)
    _collect_exports(writer, (row for row in rows if row[0] in again or row[1] in delta.added), exports)
    exports = (
        exports._replace(not_importable=_test_modules(files), roots=_roots(files)) if delta.files_changed else exports
    )
    if exports != before:
        _put(writer, exports)


def _collect_exports(writer: StoreWriter, rows: Iterable[tuple[int, str, str]], exports: ModuleExports) -> None:
    """Collect the current exports of the given files."""
    asked = writer.queries
    for identity, path, language in rows:
        if not is_encodable(path):
            continue  # an undecodable name cannot be imported
        if language in _CODE:
            flow = asked.flow(identity)
            exports.modules[path] = (
                read_exports(unpack_flow(flow), asked.links(identity).imports) if flow else ExportedNames()
            )
        elif language in _DOCUMENTS:
            outline = asked.outline(identity)
            names = read_documented_names(outline.symbols, outline.imports)
            if names:
                exports.documents[path] = names


def _put(writer: StoreWriter, exports: ModuleExports) -> None:
    writer.put_analysis(EXPORTS, pack_exports(exports))
    rows = {
        path: FileNames(names, list(exports.modules[path].classes)) for path, names in names_by_file(exports).items()
    }
    writer.put_analysis(PUBLIC, pack_names(rows))


def names_by_file(exports: ModuleExports, by_documents: bool = True) -> dict[str, dict[str, PublicName]]:
    """Return the public names of each file's definitions; `by_documents=False` ignores documents."""
    documents = sorted(exports.documents) if by_documents else []
    names = [(path, *name) for path in documents for name in exports.documents[path]]
    return dict(
        sorted(
            public_names(exports.modules, names, frozenset(exports.not_importable), frozenset(exports.roots)).items()
        )
    )


def _test_modules(files: Sequence[tuple[int, str, str, str]]) -> list[str]:
    """Return modules that nobody imports: tests, and whole packages of tests or examples."""
    inits = {path.rpartition("/")[0]: category for _, path, _, category in files if _INIT.search(path)}
    modules = []
    for _, path, language, category in files:
        if language in _CODE and category in _TRIALS and is_encodable(path):
            folder, top = path.rpartition("/")[0], ""
            while folder:
                top = folder if folder in inits else top
                folder = folder.rpartition("/")[0]
            if _TRIES.search(path) or inits.get(top, category) in _TRIALS:
                modules.append(path)
    return sorted(modules)


def _roots(files: Sequence[tuple[int, str, str, str]]) -> list[str]:
    """Return folders that modules are imported from although nothing declares it: `src` of a project, and the folder
    of a project that is a single module."""
    module_counts: dict[str, int] = {}  # number of modules directly in each folder
    for _, path, language, category in files:
        if language in _CODE and category == Category.SOURCE and path.endswith(".py"):
            folder = path.rpartition("/")[0]
            module_counts[folder] = module_counts.get(folder, 0) + 1
    projects = {path.rpartition("/")[0] for _, path, _, _ in files if path.rpartition("/")[2] in _PROJECTS}
    packages = {path.rpartition("/")[0] for _, path, _, _ in files if _INIT.search(path)}
    inside = {folder for base in module_counts for folder in enclosing_folders(base)}
    sources = {f"{project}/src".lstrip("/") for project in projects} & inside - packages
    holding = {package.rpartition("/")[0] for package in packages}
    alone = {project for project in projects - holding - packages if module_counts.get(project) == 1}
    return sorted(source for source in sources | alone if is_encodable(source))
