"""Bazel modules: `MODULE.bazel`."""

from __future__ import annotations

import ast

from concordance.query.workspace.manifests import NamedVersion, PackageManifest

FILES = ("MODULE.bazel",)


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says; its language is a subset of Python's."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return PackageManifest()
    packages, needs = [], []
    for statement in tree.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            given = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
            row = NamedVersion(str(given.get("name", "")), str(given.get("version", "")), call.lineno)
            if call.func.id == "module" and row.name:
                packages.append(row)
            elif call.func.id == "bazel_dep" and row.name:
                needs.append(row)
    return PackageManifest(tuple(packages), tuple(needs))
