"""JavaScript and TypeScript: resolve modules to files.

In: a tree. Out: a resolver of imports. Modules are searched in the order of Node and the TypeScript compiler:

1. a relative path, with or without its extension, a folder's index, or the source of a compiled name (`./a.js` for
   `a.ts`)
2. an alias in the `tsconfig.json` or `jsconfig.json` around the file (`paths`, `baseUrl`), or in `imports` (`#a`)
3. Node's own modules
4. a package of the repository: the file's own, one of a workspace, or one that a dependency gives by folder
5. a dependency, or a package that no `package.json` names

The entry of a package is what its `exports`, `main` and the like say or, if a build generates that, its source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from concordance.base.model import Category, Import, Origin, Target
from concordance.link.paths.ignored import GitIgnore
from concordance.link.paths.tree import Tree, enclosing_folders, join_path, shared_prefix_length
from concordance.link.simple_resolver import SimpleResolver
from concordance.link.world import LinkWorld

_ENDINGS = (
    ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte", ".astro", ".d.ts",
    ".d.mts", ".d.cts", ".node", ".wasm",
)  # fmt: skip
_COMPILED_EXTENSIONS = {
    ".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts", ".d.mts"), ".cjs": (".cts", ".d.cts"),
}  # fmt: skip
_NODE = frozenset(
    ("assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
     "diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net",
     "os", "path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream",
     "string_decoder", "sys", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
     "worker_threads", "zlib")
)  # fmt: skip
_TABLES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_LOCAL = ("workspace:", "file:", "link:", "portal:", "*")
# Best first: what Node loads, then what other programs load, then declarations of types.
_CONDITIONS = ("source", "import", "module", "node", "require", "default", "browser", "development", "types")
_ENTRIES = ("source", "module", "main", "index", "browser", "types", "typings")
_IMPLEMENTATIONS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs")
_OUTPUT_FOLDERS = frozenset(("dist", "lib", "build", "out", "es", "esm", "cjs", "umd", "output"))
_COMMENT = re.compile(r'"(?:\\.|[^"\\])*+"|//[^\n]*+|/\*', re.S)
_COMMA = re.compile(r",(\s*[}\]])")
_LIST = re.compile(r"^\s*-\s*[\"']?([^\"'#\s]+)", re.M)
_MAX_EXTENDS = 5
LANGUAGES = ("javascript", "typescript")
LOADS_IMPORTS = True


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of module imports."""
    find = tree.once(EcmaModules).find

    def resolve(path: str, imported: Import) -> Target:
        return find(path.rpartition("/")[0], imported.module)

    return resolve


def names(world: LinkWorld) -> SimpleResolver:
    """Return the name resolver."""
    return SimpleResolver(world, LANGUAGES)


class EcmaModules:
    """Finds modules; every answer is cached."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._targets: dict[tuple[str, str], Target] = {}
        self._json_files: dict[str, dict[str, Any]] = {}
        self._git_ignore = GitIgnore(tree)

    def find(self, folder: str, module: str) -> Target:
        """Return the target of a module name in a file of a folder."""
        key = (folder, module)
        if key not in self._targets:
            self._targets[key] = self._find(folder, module)
        return self._targets[key]

    def _find(self, folder: str, module: str) -> Target:
        words = module.partition("?")[0] or module
        if words.startswith(".") or words == "":
            path = join_path(folder, words)
            ignored = self._git_ignore.ignored_by(path) if path and not self._files(path) else ""
            if ignored:
                return Target(Origin.GENERATED, package=module, by=f"ignored by {ignored}")
            return _target(self._files(path), "relative path") or Target(Origin.UNRESOLVED, by=f"{module} not found")
        if re.match(r"[a-z][a-z0-9+.-]+:", words) and not words.startswith("node:"):
            host = words.partition("//")[2].partition("/")[0]
            return Target(Origin.THIRD_PARTY if host else Origin.UNRESOLVED, package=host, by="an address")
        target = self._alias_target(folder, words)
        if target:
            return target
        parts = words.split("/")
        package = "/".join(parts[:2]) if words.startswith("@") else parts[0]
        if words.startswith("node:") or parts[0] in _NODE:
            return Target(Origin.STANDARD, package=words.removeprefix("node:").split("/")[0], by="module of Node")
        if words.startswith("/"):
            bases = (*enclosing_folders(folder)[::-1], "")
            absolute = next(filter(None, (self._files(join_path(base, words)) for base in bases)), ())
            return _target(absolute, "path from the root") or Target(Origin.UNRESOLVED, by=f"{module} not found")
        base = self._package_folder(folder, package)
        if base is not None:
            files = self._in_package(base, words[len(package) :].strip("/"))
            return Target(Origin.REPOSITORY, files, by=f"package {package}")
        named = next((path for path in self._settings(folder) if package in self._dependencies(path)), "")
        if not re.match(r"[@\w]", package):
            return Target(Origin.UNRESOLVED, by=f"{module} not found")
        how = f"{named} requires it" if named else "not in the repository"
        return Target(Origin.THIRD_PARTY, package=package, by=how)

    # --- Files

    def _files(self, path: str | None) -> tuple[str, ...]:
        """Return the file of a path, with or without its extension, or of a folder; with the stub after its source."""
        if path is None:
            return ()
        module_file = self._tree.file(path) if path else ""
        if not module_file and path:
            module_file = next(filter(None, map(self._tree.file, self._candidate_files(path))), "")
        if not module_file and self._tree.folder(path) is not None:
            main = self.read_json(f"{path}/package.json".lstrip("/")).get("main")
            if isinstance(main, str) and main.strip("./"):
                files = self._files(join_path(path, main))
                if files:
                    return files
            module_file = next(
                filter(None, (self._tree.file(f"{path}/index{end}".lstrip("/")) for end in _ENDINGS)), ""
            )
        stem, dot, ending = module_file.rpartition(".")
        stub = f"{stem}.d.ts"
        if dot and ending in ("js", "jsx") and stub in self._tree.paths:
            return module_file, stub
        return (module_file,) if module_file else ()

    def _candidate_files(self, path: str) -> Iterator[str]:
        """Yield the files that a path may refer to; imports often name the compiler's output."""
        for ending, written in _COMPILED_EXTENSIONS.items():
            if path.endswith(ending):
                yield from (path.removesuffix(ending) + other for other in written)
        yield from (path + ending for ending in _ENDINGS)

    # --- Packages

    @cached_property
    def _packages(self) -> dict[str, list[str]]:
        """The folders of the repository's packages, by name."""
        packages: dict[str, list[str]] = {}
        for path in self._tree.by_name.get("package.json", ()):
            name = self.read_json(path).get("name")
            if isinstance(name, str):
                packages.setdefault(name, []).append(path.rpartition("/")[0])
        return packages

    @cached_property
    def _workspaces(self) -> list[tuple[str, str]]:
        """The patterns of workspaces, each with the folder it is relative to."""
        patterns: list[tuple[str, str]] = []
        for name in ("package.json", "lerna.json"):
            for path in self._tree.by_name.get(name, ()):
                setting = self.read_json(path).get("workspaces" if name == "package.json" else "packages")
                listed = setting.get("packages") if isinstance(setting, dict) else setting
                folder = path.rpartition("/")[0]
                patterns += [
                    (folder, pattern)
                    for pattern in (listed if isinstance(listed, list) else ())
                    if isinstance(pattern, str)
                ]
        for path in self._tree.by_name.get("pnpm-workspace.yaml", ()):
            patterns += [(path.rpartition("/")[0], pattern) for pattern in _LIST.findall(self._tree.text(path))]
        return patterns

    def _is_member(self, folder: str) -> bool:
        """True if a folder belongs to a workspace."""
        for root, pattern in self._workspaces:
            whole = join_path(root, pattern)
            if whole is not None and (fnmatchcase(folder, whole) or fnmatchcase(folder, whole.replace("/**", ""))):
                return True
        return False

    def _package_folder(self, folder: str, package: str) -> str | None:
        """Return the folder of a package if it is the repository's, else None."""
        candidates = self._packages.get(package, ())
        inside = [candidate for candidate in candidates if not candidate or f"{folder}/".startswith(f"{candidate}/")]
        if inside:
            return max(inside, key=len)  # a package may import itself by name
        named = next((path for path in self._settings(folder) if package in self._dependencies(path)), "")
        how = self._dependencies(named).get(package, "") if named else ""
        for sign in ("file:", "link:", "portal:"):
            if how.startswith(sign):
                target = join_path(named.rpartition("/")[0], how.removeprefix(sign))
                return target if target is not None and self._tree.folder(target) is not None else None
        local = how.startswith(_LOCAL)
        known = [
            candidate
            for candidate in candidates
            if local or self._is_member(candidate) or (not named and self._is_source(candidate))
        ]
        return (
            min(known, key=lambda candidate: (-shared_prefix_length(folder, candidate), candidate)) if known else None
        )

    def _is_source(self, package_folder: str) -> bool:
        """True if a package is the repository's own, not one for a test and not vendored."""
        file = self._tree.files[f"{package_folder}/package.json".lstrip("/")]
        return file.category not in (Category.TEST, Category.VENDORED) and "node_modules" not in package_folder.split(
            "/"
        )

    def _settings(self, folder: str) -> Iterator[str]:
        for ancestor in enclosing_folders(folder):
            path = f"{ancestor}/package.json".lstrip("/")
            if path in self._tree.paths:
                yield path

    def _dependencies(self, path: str) -> dict[str, str]:
        settings = self.read_json(path)
        dependencies: dict[str, str] = {}
        for table in _TABLES:
            listed = settings.get(table)
            dependencies.update({name: str(how) for name, how in listed.items()} if isinstance(listed, dict) else {})
        return dependencies

    def _in_package(self, package_folder: str, inside: str) -> tuple[str, ...]:
        """Return the file of a package's entry, or of a path inside the package."""
        settings = f"{package_folder}/package.json".lstrip("/")
        manifest = self.read_json(settings)
        wanted: list[object] = list(_exported(manifest.get("exports"), f"./{inside}" if inside else "."))
        wanted += [inside] if inside else ["index" if key == "index" else manifest.get(key) for key in _ENTRIES]
        for entry in wanted:
            if isinstance(entry, str) and entry.strip("./"):
                files = self._files(join_path(package_folder, entry)) or self._source(package_folder, entry)
                if files:
                    return self._with_implementation(files)
        files = self._files(join_path(package_folder, f"src/{inside}")) or (
            () if inside else self._files(package_folder)
        )
        return files or ((settings,) if settings in self._tree.paths else ())

    def _with_implementation(self, files: tuple[str, ...]) -> tuple[str, ...]:
        """Return a file of declarations behind the one beside it that they describe, which is what runs."""
        if len(files) != 1 or not files[0].endswith(".d.ts"):
            return files
        stem = files[0].removesuffix(".d.ts")
        paths = (f"{stem}{ending}" for ending in _IMPLEMENTATIONS)
        return (*[path for path in paths if path in self._tree.paths][:1], *files)

    def _source(self, package_folder: str, entry: str) -> tuple[str, ...]:
        """Return the source of a generated file: the same path in the source folder, or beside it."""
        parts = [part for part in entry.split("/") if part not in ("", ".")]
        if not parts or parts[0] not in _OUTPUT_FOLDERS:
            return ()
        stem = re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", "/".join(parts[1:]))
        stem = re.sub(r"\.(?:min|esm|cjs|umd|prod|development|production)$", "", stem)
        for way in ("src", "source", ""):
            files = self._files(join_path(package_folder, f"{way}/{stem}"))
            if files:
                return files
        return ()

    # --- Aliases

    def _alias_target(self, folder: str, words: str) -> Target | None:
        for ancestor in enclosing_folders(folder):
            for path in self._tree.by_folder.get(ancestor, ()):
                base = path.rpartition("/")[2]
                if base in ("tsconfig.json", "jsconfig.json") or re.fullmatch(r"tsconfig\.[\w.-]+\.json", base):
                    for target in self._mapped_paths(path, words):
                        files = self._files(target)
                        if files:
                            return Target(Origin.REPOSITORY, files, by=f"alias of {path}")
            if words.startswith("#"):
                settings = f"{ancestor}/package.json".lstrip("/")
                for exported in _exported(self.read_json(settings).get("imports"), words):
                    files = self._files(join_path(ancestor, exported)) or self._source(ancestor, exported)
                    if files:
                        return Target(Origin.REPOSITORY, files, by=f"imports of {settings}")
        return None

    def _mapped_paths(self, path: str, words: str) -> Iterator[str | None]:
        """Yield the paths that a compiler configuration may map a name to, with the most specific pattern first.

        A configuration has the options of those that it extends, but for its own; paths are relative to `baseUrl`,
        wherever in the chain it is set, or to the configuration that has them.
        """
        chain = list(self._extended(path, 0))
        bases = ((ancestor, options.get("baseUrl")) for ancestor, options in chain)
        base = next(
            (join_path(ancestor, path_pattern) for ancestor, path_pattern in bases if isinstance(path_pattern, str)),
            None,
        )
        first = path.rpartition("/")[0]
        for ancestor, options in chain:
            aliases = options.get("paths")
            rows = aliases.items() if isinstance(aliases, dict) else ()
            for pattern, targets in sorted(rows, key=lambda row: ("*" in row[0], -len(row[0].partition("*")[0]))):
                rest = _star_match(pattern, words)
                if rest is not None and isinstance(targets, list):
                    for path_pattern in targets:
                        target, is_own = (
                            str(path_pattern).replace("*", rest),
                            str(path_pattern).startswith("${configDir}"),
                        )
                        for root in (first,) if is_own else (ancestor,) if base is None else (base, ancestor):
                            yield join_path(root, target.removeprefix("${configDir}/"))
        if base is not None:
            yield join_path(base, words)

    def _extended(self, path: str, hops: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the folder and the options of a compiler configuration, then those of the ones it extends."""
        settings, folder = self.read_json(path), path.rpartition("/")[0]
        options = settings.get("compilerOptions")
        yield folder, options if isinstance(options, dict) else {}
        parents = settings.get("extends")
        for parent in reversed(parents) if isinstance(parents, list) else [parents]:  # the last one counts
            if isinstance(parent, str) and hops < _MAX_EXTENDS:
                base = join_path(folder, parent) if parent.startswith(".") else self._in_named_package(folder, parent)
                for candidate in (base, f"{base}.json", f"{base}/tsconfig.json") if base is not None else ():
                    if candidate in self._tree.paths:
                        yield from self._extended(candidate, hops + 1)
                        break

    def _in_named_package(self, folder: str, words: str) -> str | None:
        """Return the path that a name leads to in a package of the repository."""
        parts = words.split("/")
        count = 2 if words.startswith("@") else 1
        package_folder = self._package_folder(folder, "/".join(parts[:count]))
        return join_path(package_folder, "/".join(parts[count:]) or ".") if package_folder is not None else None

    def read_json(self, path: str) -> dict[str, Any]:
        """Return a JSON file, which may have comments and trailing commas; empty if it is invalid."""
        if path not in self._json_files:
            self._json_files[path] = _json(self._tree.text(path)) if path in self._tree.paths else {}
        return self._json_files[path]


def _json(text: str) -> dict[str, Any]:
    for plain in (False, True):
        try:
            value = json.loads(_COMMA.sub(r"\1", _without_comments(text)) if plain else text)
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) else {}
    return {}


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (match := _COMMENT.search(text, at)) is not None:
        parts.append(text[at : match.end() if match[0][0] == '"' else match.start()])
        at = match.end()
        if match[0] == "/*":
            end = text.find("*/", at)
            at = end + 2 if end >= 0 else len(text)
    return "".join([*parts, text[at:]])


def _target(files: tuple[str, ...], by: str) -> Target | None:
    return Target(Origin.REPOSITORY, files, by=by) if files else None


def _star_match(pattern: str, words: str) -> str | None:
    """Return what the star of a pattern matches; None if the pattern does not match."""
    before, star, behind = pattern.partition("*")
    if not star:
        return "" if words == pattern else None
    matches = words.startswith(before) and words.endswith(behind) and len(words) >= len(before) + len(behind)
    return words[len(before) : len(words) - len(behind)] if matches else None


def _exported(table: object, words: str) -> Iterator[str]:
    """Yield the paths that `exports` or `imports` maps a name to, under any condition."""
    if words == "." and not (isinstance(table, dict) and any(str(key).startswith(".") for key in table)):
        yield from _leaves(table, "")
    for pattern, value in table.items() if isinstance(table, dict) else ():
        rest = _star_match(str(pattern), words)
        if rest is not None:
            yield from _leaves(value, rest)


def _leaves(value: object, rest: str, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("*", rest)
    elif isinstance(value, list) and depth < _MAX_EXTENDS:
        for inner in value:
            yield from _leaves(inner, rest, depth + 1)
    elif isinstance(value, dict) and depth < _MAX_EXTENDS:
        for key in sorted(value, key=lambda key: _CONDITIONS.index(key) if key in _CONDITIONS else len(_CONDITIONS)):
            yield from _leaves(value[key], rest, depth + 1)
