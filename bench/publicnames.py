"""`python -m bench public ROOT [DOCS]`: the public names of documented definitions, compared with the paths that the
documentation uses.

In: a repository with a store, and the folder of its reST and Markdown documents (docs/source, else docs, doc). Out: how
many of the documented names that are defined in the repository's Python are shown by the documented path, first with
the documentation known to the search, then without; and those that differ. The oracle is this file's own: directives
are read line by line, and dotted paths are followed with `ast`, through imports, without importing anything.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from concordance.facts.read import Facts
from concordance.passes.public_names import unpack_exports
from concordance.workflow.stages.public_names import EXPORTS, names_by_file
from concordance.workflow.store_location import FOLDER

_DIRECTIVE = re.compile(r"\s*(?:\.\.|[`~:]{3,}\{?)\s*(?:py:)?([a-z]+)(?:\}|::)\s*(.*)")
_WHOLE = {"autoclass", "autofunction", "autodata", "autoexception", "automethod", "autoattribute", "class", "function",
          "exception", "data", "decorator"}  # fmt: skip


def documented(text: str) -> list[tuple[str, str]]:
    """Return the names that a document documents, each with the module that is current there."""
    found, module, listing = [], "", -1
    for line in text.splitlines():
        directive = _DIRECTIVE.match(line)
        indent = len(line) - len(line.lstrip())
        if directive:
            name, argument = directive[1], directive[2].split("(")[0].strip()
            listing = indent if name == "autosummary" else -1
            if name in ("currentmodule", "module", "automodule") and argument:
                module = argument
            elif name in _WHOLE and argument and (name.startswith("auto") or indent == 0):
                found.append((module, argument))
        elif listing >= 0 and line.strip():
            if indent <= listing and not line.startswith("    "):
                listing = -1
            elif not line.strip().startswith(":"):
                found.append((module, line.strip().lstrip("~").split()[0]))
    return found


class Oracle:
    """Follows dotted paths with `ast`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.top = [root, *(one for one in (root / "src", root / "lib") if one.is_dir())]

    @cache  # noqa: B019  one for a run
    def file(self, dotted: str) -> Path | None:
        """Return the file of a module."""
        for top in self.top:
            place = top.joinpath(*dotted.split("."))
            for path in (place / "__init__.py", place.with_name(place.name + ".py")):
                if path.is_file():
                    return path
        return None

    @cache  # noqa: B019
    def tree(self, path: Path) -> list[ast.stmt]:
        """Return the statements at the top of a file, including those under `if` and `try`."""
        found: list[ast.stmt] = []
        left: list[ast.stmt] = list(ast.parse(path.read_text()).body)
        while left:
            one = left.pop(0)
            found.append(one)
            for part in ("body", "orelse", "finalbody", "handlers"):
                if isinstance(one, ast.If | ast.Try | ast.With):
                    for inner in getattr(one, part, []):
                        left += inner.body if isinstance(inner, ast.ExceptHandler) else [inner]
        return found

    def module_of(self, path: Path) -> str:
        """Return a file's dotted name."""
        top = max((top for top in self.top if path.is_relative_to(top)), key=lambda top: len(top.parts))
        parts = list(path.relative_to(top).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def leads(self, dotted: str) -> tuple[str, str, str] | None:
        """Return the file and name that a path leads to, and the path up to it: the rest are members."""
        parts = dotted.split(".")
        for count in range(len(parts) - 1, 0, -1):
            path = self.file(".".join(parts[:count]))
            if path is not None:
                there = self.name(path, parts[count], frozenset())
                return (*there, ".".join(parts[: count + 1])) if there else None
        return None

    def name(self, path: Path, name: str, seen: frozenset[tuple[Path, str]]) -> tuple[str, str] | None:
        """Return where a name of a module is defined."""
        if (path, name) in seen:
            return None
        seen |= {(path, name)}
        own, stars, brought = None, [], []
        for one in self.tree(path):
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and one.name == name:
                return str(path.relative_to(self.root)), name
            targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
            if any(isinstance(node, ast.Name) and node.id == name for to in targets for node in ast.walk(to)):
                own = str(path.relative_to(self.root)), name
            if isinstance(one, ast.ImportFrom):
                home = self._home(path, one)
                brought += [(home, alias.name) for alias in one.names if (alias.asname or alias.name) == name]
                stars += [home for alias in one.names if alias.name == "*"]
        for home, of in [*brought, *((star, name) for star in stars)]:
            there = self.file(home)
            found = self.name(there, of, seen) if there is not None else None
            if found:
                return found
        return own

    def _home(self, path: Path, one: ast.ImportFrom) -> str:
        if not one.level:
            return one.module or ""
        parts = self.module_of(path).split(".")
        up = one.level - (path.name == "__init__.py")
        base = parts[: len(parts) - up] if up else parts
        return ".".join([*base, *([one.module] if one.module else [])])


def asked(root: Path, docs: Path) -> dict[tuple[str, str], set[str]]:
    """Return the documented paths of each definition in the repository's Python."""
    oracle = Oracle(root)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in sorted((*docs.rglob("*.rst"), *docs.rglob("*.md"), *docs.rglob("*.txt"))):
        for module, name in documented(path.read_text(errors="replace")):
            for dotted in ([f"{module}.{name}"] if module and not name.startswith(f"{module}.") else []) + [name]:
                there = oracle.leads(dotted)
                if there:
                    found[there[:2]].add(there[2])
                    break
    return found


def main(words: list[str]) -> None:
    """Print how many are equal."""
    root = Path(words[0]).resolve()
    docs = root / words[1] if words[1:] else next(one for one in map(root.joinpath, ("docs/source", "docs", "doc")) if one.is_dir())
    wanted = asked(root, docs)
    with Facts(str(root / FOLDER)) as facts:
        said = unpack_exports(facts.analysis_result(EXPORTS))
        for told, by_file in (("as built", names_by_file(said)), ("without the documents", names_by_file(said, False))):
            ours = {(path, name): one.dotted for path, names in by_file.items() for name, one in names.items()}
            wrong = {there: paths for there, paths in wanted.items() if ours.get(there) not in paths}
            every = sum(map(len, wanted.values()))
            hit = sum(ours.get(there) == path for there, paths in wanted.items() for path in paths)
            print(f"{told}: {1 - len(wrong) / max(1, len(wanted)):.4f} of {len(wanted):,} documented definitions have a "
                  f"name that the documents use; {hit / max(1, every):.4f} of {every:,} documented paths are shown")  # fmt: skip
            for (path, name), paths in sorted(wrong.items()):
                print(f"    {path}#{name}: {ours.get((path, name))}, documents: {', '.join(sorted(paths))}")


if __name__ == "__main__":
    main(sys.argv[1:])
