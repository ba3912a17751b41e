"""Resolves the directives and roles of Sphinx, in reST and in Markdown.

In: an import whose form is the name of the directive or role. Out: a `Target`. A document is named without its
extension, relative to the folder of the file, or, with a leading slash, to the documentation's root, which has the
`conf.py`. Python is named by its dotted name (`automodule`, `autoclass`, `currentmodule` and the like): the longest
prefix that is a module gives the file, the rest is a name in it.
"""

from __future__ import annotations

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree, enclosing_folders
from concordance.link.python.module_finder import ModuleFinder

_CODE = ("auto", "currentmodule", "module", "py:")
DIRECTIVES = frozenset(
    ("toctree", "include", "literalinclude", "doc", "download", "currentmodule", "module", "automodule", "autoclass",
     "autofunction", "autosummary", "automethod", "autoattribute", "autodata", "autoexception", "autoproperty")
)  # fmt: skip
# in a dotted name, the part before the last dot is the module
_WHOLE = frozenset(("autoclass", "autofunction", "autodata", "autoexception"))
_ENDINGS = ("", ".rst", ".md", ".txt", ".ipynb", ".rest")
_PAGES = ("index.rst", "index.md", "README.rst", "README.md")


def resolve_directive(tree: Tree, path: str, imported: Import) -> Target:
    """Return the target of one directive."""
    if imported.form.startswith(_CODE):
        return _code(tree.once(ModuleFinder), path, imported)
    words = imported.module
    if imported.form == "toctree" and words == "self":
        return Target(Origin.REPOSITORY, (path,), by="this file")
    if words.startswith("<"):
        return Target(Origin.STANDARD, package="docutils", by="file of docutils")
    return references.resolve_link(tree, path, words, _ENDINGS, _PAGES, _top(tree, path))


def _top(tree: Tree, path: str) -> str:
    """Return the documentation root of a file: the nearest folder above with a `conf.py`, else the repository root."""
    folders = enclosing_folders(path.rpartition("/")[0])
    return next((folder for folder in folders if f"{folder}/conf.py".lstrip("/") in tree.paths), "")


def _code(modules: ModuleFinder, path: str, imported: Import) -> Target:
    """Return the module that contains a dotted name.

    The name belongs to the current module, unless it starts with a module of its own.
    """
    name = imported.name.partition("(")[0].strip()
    inner, count = _longest(modules, path, f"{imported.module}.{name}" if name else imported.module)
    if not name or count > len(imported.module.split(".")):
        return inner or modules.import_target(path, imported.module.partition(".")[0])
    own, _ = _longest(modules, path, name)
    if own:
        return own
    if "." in name and imported.form in _WHOLE:
        return modules.external_target(name)
    return inner or modules.import_target(path, imported.module.partition(".")[0])


def _longest(modules: ModuleFinder, path: str, dotted: str) -> tuple[Target | None, int]:
    """Return the longest prefix of a dotted name that is a module with a file, and its number of parts."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        target = modules.repository_target(path, ".".join(parts[:end]))
        if target and target.paths:
            return target, end
    return None, 0
