"""What the catalogue has of one repository, derived from its store alone.

In: the index of a repository. Out: a `CatalogueEntry`: the packages that its manifests provide and require, the
beginnings of the names of its modules, the definitions that others can name, and what it uses of modules that it does
not contain. The entry depends on nothing else, so entries can be derived in any order, on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from concordance.base import plugins
from concordance.base.config import Roots
from concordance.base.model import Category, Kind, Origin, Role, Target, role_bit, unpack_column
from concordance.extract.registry import language_of
from concordance.facts.catalogue import CatalogueEntry, ExportedName, ExternalUse, ProvidedPackage, Requirement
from concordance.facts.read import SymbolPlace
from concordance.link.paths.tree import Tree
from concordance.query.answers import full_name, split_key
from concordance.query.index.open_file import OpenFile
from concordance.query.index.repository import Index
from concordance.query.names.at_position import ImportOrigins
from concordance.query.names.display_names import public_names
from concordance.query.workspace.module_heads import family_of, head_of, module_heads

MANIFESTS = "concordance.query.workspace.manifests"
_EXPORTED_KINDS = frozenset(
    (Kind.CLASS, Kind.STRUCT, Kind.UNION, Kind.ENUM, Kind.INTERFACE, Kind.FUNCTION, Kind.TYPE, Kind.CONSTANT,
     Kind.VARIABLE, Kind.MACRO, Kind.OPERATOR)
)  # fmt: skip
_CONTAINERS = frozenset((Kind.NAMESPACE, Kind.MODULE))
_SHOWN = frozenset((Category.SOURCE, Category.GENERATED))
_IMPORTS = role_bit(Role.IMPORT)
# Folders whose manifests are not about what the repository provides.
_NOT_SHIPPED = frozenset(
    ("test", "tests", "testdata", "fixtures", "example", "examples", "docs", "benchmarks", "node_modules")
)
_METHODS = frozenset(("get", "put", "post", "delete", "options", "head", "patch", "trace"))  # of an OpenAPI path


def describe_repository(index: Index, roots: Roots) -> CatalogueEntry:
    """Return the entry of a repository."""
    tree = Tree(index.root, index.facts.files(), roots)
    packages, requirements = read_manifests(tree)
    heads = module_heads(tree, packages)
    python = {head.head for head in heads if head.family == "python"}
    names = {*_python_names(index, python), *_other_names(index)}
    return CatalogueEntry(packages, requirements, heads, names, set(_external_uses(index)))


def read_manifests(tree: Tree) -> tuple[set[ProvidedPackage], set[Requirement]]:
    """Return the packages that the manifests of a repository provide, and those that they require of others."""
    packages: set[ProvidedPackage] = set()
    requirements: set[Requirement] = set()
    readers = [(reader, reader.__name__.rpartition(".")[2]) for reader in plugins.load_all(MANIFESTS)]
    for path, file in sorted(tree.files.items()):
        *around, name = path.split("/")
        if file.skip or file.category == Category.VENDORED or not _NOT_SHIPPED.isdisjoint(around):
            continue
        for reader, ecosystem in readers:
            if any(fnmatchcase(name, pattern) for pattern in reader.FILES):
                manifest = reader.read(path, tree.text(path))
                for package in manifest.packages:
                    packages.add(ProvidedPackage(ecosystem, package.name, package.version, path, package.line))
                for requirement in manifest.requirements:
                    requirements.add(
                        Requirement(ecosystem, requirement.name, requirement.version, path, requirement.line)
                    )
    own = {(package.ecosystem, package.name) for package in packages}
    return packages, {
        requirement for requirement in requirements if (requirement.ecosystem, requirement.name) not in own
    }


# --- exported names


def _python_names(index: Index, heads: set[str]) -> Iterator[ExportedName]:
    """Yield the public names of Python definitions whose module others can import."""
    table = public_names(index)
    for path in sorted(table.rows):
        for place in index.facts.symbols_in(path):
            name = table.of(path, split_key(place.key)).dotted if "." not in place.key else ""
            if name.partition(".")[0] in heads and not place.declaration:
                yield ExportedName(name.rpartition(".")[2], name, place.kind, path, place.key, place.line)


def _other_names(index: Index) -> Iterator[ExportedName]:
    """Yield the public definitions of other languages, and the names of services."""
    for _, path, language, category in index.file_rows:
        if category in _SHOWN and language not in ("python", "cython") and family_of(language):
            places = index.facts.symbols_in(path)
            kinds = {place.key: place.kind for place in places}
            for place in places:
                if place.public and _is_exported(place, kinds, language):
                    yield ExportedName(place.name, full_name(place), place.kind, path, place.key, place.line)
        if language in ("yaml", "json"):
            yield from _operations(index, path)


def _is_exported(place: SymbolPlace, kinds: dict[str, str], language: str) -> bool:
    """True if a symbol is at the top level of a file or namespace; in protobuf, methods of services count as well."""
    around = kinds.get(place.parent_key, "") if place.parent_key else Kind.MODULE
    if language == "proto" and place.kind == Kind.METHOD:
        return True
    return place.kind in _EXPORTED_KINDS and around in _CONTAINERS and bool(place.name)


def _operations(index: Index, path: str) -> Iterator[ExportedName]:
    """Yield the operations of an OpenAPI description: by their ids, or else by method and path."""
    if not any(place.key in ("openapi", "swagger") for place in index.facts.symbols_in(path)):
        return
    symbols = index.open_file(path).symbols
    for symbol in symbols:
        parts = split_key(symbol.key)
        if len(parts) == 3 and parts[0] == "paths" and parts[2] in _METHODS:
            inside = (inner for inner in symbols if symbol.start_line <= inner.line <= symbol.end_line)
            identity = next((inner.signature for inner in inside if inner.name == "operationId"), "")
            name = identity.partition("=")[2].strip(" \"'") or f"{parts[2].upper()} {parts[1]}"
            yield ExportedName(name, name, "operation", path, symbol.key, symbol.line)


# --- uses of what others provide


def _external_uses(index: Index) -> Iterator[ExternalUse]:
    for _, path, language, _ in sorted(index.file_rows, key=lambda row: row[1]):
        family = family_of(language)
        if family and not language_of(language).is_markup:
            yield from uses_in_file(index.open_file(path), family)


def uses_in_file(file: OpenFile, family: str) -> Iterator[ExternalUse]:
    """Yield what a file uses of modules that its repository does not contain."""
    rows = file.import_targets
    outside = {number for number, (row, target) in enumerate(rows) if is_external(row.module, target)}
    if not outside:
        return
    uses: dict[tuple[str, str], tuple[int, int, int]] = {}

    def add(number: int, module: str, name: str, roles: int, times: int) -> None:
        line, had, count = uses.get((module, name), (rows[number][0].line, 0, 0))
        uses[module, name] = (min(line, rows[number][0].line), had | roles, count + times)

    for number in outside:
        row = rows[number][0]
        add(number, row.module, "" if row.name == "*" else row.name, _IMPORTS, 1)
    origins, flow = ImportOrigins(file), file.flow
    columns = (flow.used, flow.roles, flow.times)
    for used, roles, times in zip(*map(unpack_column, columns), strict=True) if flow.times else ():
        reference = origins.reference(used)
        if reference is not None and reference.number in outside:
            add(reference.number, reference.module, ".".join(reference.names), roles, times)
    for (module, name), (line, roles, times) in uses.items():
        yield ExternalUse(
            family, head_of(family, module), name.rpartition(".")[2], module, name, file.path, line, roles, times
        )


def is_external(module: str, target: Target | None) -> bool:
    """True if an import may lead to another repository."""
    if target is None or module.startswith((".", "/")):
        return False
    if target.origin == Origin.REPOSITORY:
        return not target.paths  # a namespace package, of which other distributions have a part
    return target.origin in (Origin.THIRD_PARTY, Origin.UNRESOLVED)
