"""Where Python modules lie: from the name in an import to files, and from a file to its name.

In: a tree. Out: `ModuleFinder`. A module is looked for as Python does, first in what is certain:

1. a relative import: from the importing file's own folder
2. the root of the importing file's own package, or its own folder where that is no package (what runs a
   script puts it there), and folders above with a `conftest.py` (what runs the tests puts them there)
3. the standard library
4. roots that the projects around the file name in their settings, the projects' own folders, the repository
5. a folder above that is no package: a script that runs from there, or a changed `sys.path`, makes it a root
6. roots of packages anywhere else: a folder that holds a package and is none; the nearest first
7. folders without `__init__.py`: below the roots of 2 and 4 after these, below others last

A required distribution comes before 5 to 7, unless the repository carries a copy of it. In each step a
root that has the whole dotted name is taken before one that has only its beginning.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterator
from functools import cached_property
from typing import NamedTuple

from concordance.base.model import Category, Origin, Target
from concordance.link.paths.ignored import GitIgnore
from concordance.link.paths.tree import Tree, above, nearness
from concordance.link.python.packages import COMPILED, SOURCES, STUBS, PythonPackages, Roots
from concordance.link.python.project_settings import Project, normal

_TEMPLATES = (".in", ".template", ".tmpl", ".j2", ".jinja", ".jinja2", ".mako", ".src", ".tpl")
_BASES = (".pyx", ".pyi", ".py")
_EXTENSION = re.compile(
    r"\bextension_module\s*\(\s*'([\w.]+)'|\b(?:pybind11_add_module|nanobind_add_module|python_add_module|"
    r"Python3?_add_library)\s*\(\s*([\w.]+)",
    re.I,
)

# fmt: off
_OTHER_VERSIONS = frozenset((  # of Python 2.7 and 3.8 to 3.14
    "test", "annotationlib", "compression", "tomllib", "distutils", "imp", "asynchat", "asyncore", "smtpd", "aifc",
    "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib", "nis", "nntplib",
    "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib", "binhex", "formatter", "parser",
    "symbol", "macpath", "dummy_threading", "_dummy_thread", "__main__", "_typeshed", "ConfigParser", "Queue",
    "SocketServer", "StringIO", "cStringIO", "cPickle", "copy_reg", "httplib", "urllib2", "urlparse", "Tkinter",
    "tkMessageBox", "HTMLParser", "Cookie", "cookielib", "BaseHTTPServer", "SimpleHTTPServer", "CGIHTTPServer",
    "SimpleXMLRPCServer", "DocXMLRPCServer", "xmlrpclib", "__builtin__", "commands", "thread", "exceptions",
    "htmlentitydefs", "robotparser", "md5", "sha", "sets", "UserDict", "UserList", "UserString", "anydbm", "dumbdbm",
    "whichdb", "new", "popen2", "rfc822", "_android_support", "_bootsubprocess", "_colorize", "_crypt",
    "_interpchannels", "_interpqueues", "_interpreters", "_ios_support", "_msi", "_opcode_metadata", "_pydatetime",
    "_pylong", "_pyrepl", "_sha2", "_sha256", "_sha512", "_suggestions", "_sysconfig", "_wmi",
))
# Loaded before a script runs, so that a file of this name beside it is not seen.
LOADED = frozenset((
    "sys", "builtins", "io", "os", "abc", "codecs", "site", "stat", "types", "posixpath", "ntpath", "genericpath",
    "warnings", "marshal", "time", "errno", "signal",
))
# fmt: on
# What a book says must not depend on the Python that runs us: the names of one version are filled up by the others'.
STANDARD = sys.stdlib_module_names | _OTHER_VERSIONS
FAR = "package below"
_TRIED = 4  # packages of one name in which a build may make a module
_LEFT_OUT = frozenset({"test"})  # many installations leave it out of the standard library


class _Spot(NamedTuple):
    """Where a part of a dotted name was found: its files, and the folders in which the next part may be."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


class ModuleFinder:
    """Finds modules by name; every answer is remembered."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.places = tree.once(PythonPackages)
        self._targets: dict[tuple[str, str], Target] = {}
        self._located: dict[tuple[str, str], Target | None] = {}
        self._spots: dict[str, dict[str, tuple[str, ...]]] = {}

    @cached_property
    def _made(self) -> GeneratedModules:
        return GeneratedModules(self.tree, self.places.projects)

    # --- what is asked

    def find(self, importer: str, dotted: str) -> tuple[str, ...]:
        """The files of exactly that module, seen from a file: best first, none where there is none."""
        found = self.locate(importer, dotted)
        return found.paths if found is not None else ()

    def has(self, importer: str, dotted: str) -> bool:
        """Whether a module of the repository has that name, a package without files too."""
        return self.locate(importer, dotted) is not None

    def submodule(self, package: str, name: str) -> str | None:
        """The module of a name that lies in a package, given the package's own file."""
        folder, _, base = package.rpartition("/")
        if not base.startswith("__init__."):
            return None
        files = self.places.files(folder, name)
        return files[0] if files else None

    def name_of(self, path: str) -> str:
        """The dotted name that a file is imported by."""
        folder, _, base = path.rpartition("/")
        stem = base.partition(".")[0]
        for package, home in self.places.placed.items():
            if folder == home or folder.startswith(f"{home}/"):
                parts = [package, *folder[len(home) + 1 :].split("/"), "" if stem == "__init__" else stem]
                return ".".join(filter(None, parts))
        root = self.places.root_of(folder)
        inner = folder[len(root) + 1 :] if root else folder
        return ".".join(filter(None, [*inner.split("/"), "" if stem == "__init__" else stem])) or stem

    def locate(self, importer: str, dotted: str) -> Target | None:
        """A module of the repository, seen from a file; None where it is none."""
        key = (importer.rpartition("/")[0], dotted)
        if key not in self._located:
            found = self._relative(*key) if dotted.startswith(".") else self._absolute(*key)
            self._located[key] = self._shared(*key, found) if found else None
        return self._located[key]

    def target(self, importer: str, dotted: str) -> Target:
        """What a module's name leads to, seen from a file: the repository's, or whose else."""
        found = self.locate(importer, dotted)
        if found is not None:
            return found
        key = (importer.rpartition("/")[0], dotted)
        found = self._targets.get(key)
        if found is None:
            found = self._targets[key] = self._lost(*key) if dotted.startswith(".") else self._elsewhere(*key)
        return found

    def outside(self, dotted: str) -> Target:
        """What a module is, where it is none of the repository's."""
        head = dotted.partition(".")[0]
        known = self._distribution(dotted.split("."))
        if head in STANDARD:
            return Target(Origin.STANDARD, package=head, by="standard library")
        if known:
            return Target(Origin.THIRD_PARTY, package=known[0], by=f"{known[1]} requires it")
        return Target(Origin.THIRD_PARTY, package=head, by="not in the repository")

    # --- relative imports

    def _base(self, folder: str, dotted: str) -> str | None:
        """The folder that a relative import starts from; None where that is above the repository."""
        for _ in range(len(dotted) - len(dotted.lstrip(".")) - 1):
            if not folder:
                return None
            folder = folder.rpartition("/")[0]
        return folder

    def _relative(self, folder: str, dotted: str) -> Target | None:
        base, rest = self._base(folder, dotted), dotted.lstrip(".")
        if base is None:
            return None
        if not rest:
            inits = (f"{base}/__init__{ending}".lstrip("/") for ending in (*SOURCES, *STUBS))
            files = tuple(path for path in inits if path in self.tree.paths)
            return Target(Origin.REPOSITORY, files, by="relative import")
        parts = rest.split(".")
        spot, count = self._walk(base, parts)
        return Target(Origin.REPOSITORY, spot.files, by="relative import") if spot and count == len(parts) else None

    def _lost(self, folder: str, dotted: str) -> Target:
        base, rest = self._base(folder, dotted), dotted.lstrip(".")
        if base is None:
            return Target(Origin.UNRESOLVED, by="above the repository's root")
        return self._missing(base, rest.split(".")) or Target(Origin.UNRESOLVED, by=f"no {rest} below {base or '.'}")

    def _walk(self, folder: str, parts: list[str]) -> tuple[_Spot | None, int]:
        """How far a folder leads: the last part found, and the number of parts."""
        spot: _Spot | None = None
        folders: tuple[str, ...] = (folder,)
        for number, part in enumerate(parts):
            below = next(filter(None, (self._step(one, part) for one in folders)), None)
            if below is None:
                return spot, number
            spot, folders = below, below.folders
        return spot, len(parts)

    def _step(self, folder: str, name: str) -> _Spot | None:
        """The module or folder of a name in a folder."""
        at = f"{folder}/{name}" if folder else name
        files = self.places.files(folder, name)
        if files:
            home = files[0].rpartition("/")[0] if _is_package(files[0]) else at  # another where a link led there
            return _Spot(files, (at,) if home == at else (at, home))
        real = self.tree.folder(at)
        return _Spot((), (real,)) if real is not None and real in self.places.with_python else None

    # --- absolute imports

    def _absolute(self, folder: str, dotted: str) -> Target | None:
        parts = dotted.split(".")
        head = parts[0]
        own, near = self.places.own(folder), self.places.near(folder)
        spots = self._spots_of(dotted, parts)
        holding = self.places.holding(head)
        seen = self._is_seen(folder, head)
        found = self._first(spots, holding, own) if spots and seen else None
        if found:
            return found
        if head in STANDARD and (not seen or holding.isdisjoint(own)):
            found = self._first(spots, spots, own, near) if head in _LEFT_OUT else None
            found = found if (found and found.paths) or head not in _LEFT_OUT else self._above(folder, spots)
            return found if found and found.paths else None
        found = self._by_place(parts) or self._first(spots, holding, near)
        if found or not spots:
            return found
        known = self._distribution(parts)
        if known is None:
            found = self._first(spots, spots, own, near) or self._above(folder, spots)
        listed = (root for root in self.places.far(folder, head) if known is None or self._is_carried(root, head))
        far: Roots = {root: (place, f"{FAR} {root or '.'}") for place, root in enumerate(listed)} if not found else {}
        found = found or self._first(spots, holding, far)
        return found or (self._far_namespace(folder, head, spots) if known is None else None)

    def _spots_of(self, dotted: str, parts: list[str]) -> dict[str, tuple[str, ...]]:
        """Every folder below which a whole dotted name lies, with its files (none for a folder)."""
        found = self._spots.get(dotted)
        if found is None:
            *outer, last = parts
            way = "/".join(outer)
            homes = self.places.reached(self.places.holding(last) | self.places.around(last))
            found = self._spots[dotted] = {
                home[: len(home) - len(way)].rstrip("/"): self.places.files(real, last)
                for home, real in homes.items()
                if not way or home == way or home.endswith(f"/{way}")
            }
        return found

    def _first(self, spots: dict[str, tuple[str, ...]], wanted: Container[str], *lists: Roots) -> Target | None:
        """The module below the first of some roots that are also wanted; below one with files before one without."""
        empty: Target | None = None
        for roots in lists:
            few = spots if len(spots) < len(roots) else roots
            for root in sorted((r for r in few if r in roots and r in spots and r in wanted), key=roots.__getitem__):
                how = roots[root][1] if wanted is not spots else "namespace package"
                if spots[root]:
                    return Target(Origin.REPOSITORY, spots[root], by=how)
                empty = empty or Target(Origin.REPOSITORY, (), by=how)
        return empty

    def _shared(self, folder: str, dotted: str, found: Target) -> Target:
        """For one of the packages that share a name between distributions, the one that says more than that."""
        spots = self._spots.get(dotted, {})
        if len(spots) < 2 or not found.paths or not self.places.is_shared(found.paths[0]):
            return found
        full = [root for root, files in spots.items() if files and not self.places.is_shared(files[0])]
        best = min(full, key=lambda root: (-nearness(folder, root), root), default=None)
        return found if best is None else Target(Origin.REPOSITORY, spots[best], by="namespace package")

    def _is_seen(self, folder: str, head: str) -> bool:
        """Whether a file beside a script hides the standard library's module of that name."""
        if head not in LOADED or folder in self.places.packages:
            return True
        beside = sum(bool(self.places.files(folder, name)) for name in LOADED)
        return beside >= len(LOADED) // 2  # it is the library itself

    def _by_place(self, parts: list[str]) -> Target | None:
        """A module of a package that lies in a folder of another name."""
        for end in range(len(parts), 0, -1) if self.places.placed else ():
            package = ".".join(parts[:end])
            if package in self.places.placed:
                home = self.places.placed[package]
                how = f"{package} lies in {home or '.'}"
                if end == len(parts):
                    init = f"{home}/__init__.py".lstrip("/")
                    return Target(Origin.REPOSITORY, (init,) if init in self.tree.paths else (), by=how)
                spot, count = self._walk(home, parts[end:])
                if spot and count == len(parts) - end:
                    return Target(Origin.REPOSITORY, spot.files, by=how)
        return None

    def _above(self, folder: str, spots: dict[str, tuple[str, ...]]) -> Target | None:
        """A module in a folder above that is no package: a script there, or a changed `sys.path`, makes it a root."""
        for around in above(folder)[1:]:
            if spots.get(around) and around not in self.places.packages:
                return Target(Origin.REPOSITORY, spots[around], by=f"folder above, {around or '.'}")
        return None

    def _far_namespace(self, folder: str, head: str, spots: dict[str, tuple[str, ...]]) -> Target | None:
        """A module below a folder that has the importing file in it, or else a root elsewhere; the nearest first."""
        around = {root for root in spots if f"{folder}/".startswith(f"{root}/{head}/".lstrip("/"))}
        roots = [root for root in spots if root in around or root in self.places.roots]
        roots = [root for root in roots if root not in self.places.packages]
        if not roots:
            return None
        best = min(roots, key=lambda root: (root not in around, not spots[root], -nearness(folder, root), root))
        return Target(Origin.REPOSITORY, spots[best], by="namespace package")

    def _distribution(self, parts: list[str]) -> tuple[str, str] | None:
        """The required distribution that carries the name of a module, or of a package around it."""
        for end in range(len(parts), 0, -1):
            known = self.places.required.get(normal(".".join(parts[:end])))
            if known:
                return known
        return None

    def _is_carried(self, root: str, head: str) -> bool:
        """Whether the repository carries a copy of other people's module, for its own use."""
        files = self.places.files(root, head)
        return bool(files) and self.tree.files[files[0]].category == Category.VENDORED

    # --- modules that are not in the tree

    def _elsewhere(self, folder: str, dotted: str) -> Target:
        """A module that is not there: made by a build, missing from a package of the repository, or other people's."""
        parts = dotted.split(".")
        head = parts[0]
        own, near = self.places.own(folder), self.places.near(folder)
        holding = self.places.holding(head)
        if head in STANDARD and (holding.isdisjoint(own) or not self._is_seen(folder, head)):
            return self.outside(dotted)
        known = self._distribution(parts)
        begun = [root for roots in (own, near) for root in sorted(holding & roots.keys(), key=roots.__getitem__)]
        begun += [root for root in self.places.far(folder, head) if known is None or self._is_carried(root, head)]
        for end in range(len(parts) - 1, 0, -1):
            spots = self._spots_of(".".join(parts[:end]), parts[:end])
            deepest = [root for root in begun if root in spots][:_TRIED]
            made = next(filter(None, (self._missing(root, parts) for root in deepest)), None)
            if deepest:
                return made or Target(Origin.UNRESOLVED, by=f"{'.'.join(parts[:end])} is here, {dotted} is not")
        return self._made_top(own, near, parts) or self.outside(dotted)

    def _missing(self, root: str, parts: list[str]) -> Target | None:
        """A module that a build makes inside a package of the repository."""
        spot, count = self._walk(root, parts)
        homes, rest = (spot.folders if spot else (root,)), parts[count:]
        for home in homes:
            made = self._made.module("/".join(filter(None, (home, *rest))), ".".join(parts), in_package=True)
            if made:
                return made
        compiled = all(map(_is_compiled, spot.files)) if spot else False
        if spot and (compiled if spot.files else any(any(self._made.recipes(at)) for at in homes)):
            return Target(Origin.GENERATED, package=".".join(parts), by=f"inside compiled {'.'.join(parts[:count])}")
        return None

    def _made_top(self, own: Roots, near: Roots, parts: list[str]) -> Target | None:
        """A module outside of packages that a build makes."""
        way = "/".join(parts)
        for at in self._made.known(parts[-1]):
            root = at[: len(at) - len(way)].rstrip("/")
            if (at == way or at.endswith(f"/{way}")) and (root in own or root in near):
                return self._made.module(at, ".".join(parts), in_package=False)
        return self._made.module("", ".".join(parts), in_package=False)


def _is_compiled(path: str) -> bool:
    """Whether a file shows that there is a module, and not what is in it."""
    return path.endswith((*COMPILED, *STUBS))


def _is_package(path: str) -> bool:
    return path.rpartition("/")[2].startswith("__init__.")


# ---
# Python modules that are not in the tree because a build makes them.
#
# In: a tree, the projects in it, and where a module would lie. Out: what it is made from, or which setting says that
# it is made: a template beside it, a protocol's file, a compiled extension that a build file names, a version file
# that a tool writes, or git being told to ignore it.


class GeneratedModules:
    """Asks for modules by their path without an ending."""

    def __init__(self, tree: Tree, projects: dict[str, Project]) -> None:
        self._tree = tree
        self._projects = projects
        self._ignored = GitIgnore(tree)
        self._known: dict[str, dict[str, str]] = {}

    @cached_property
    def _extensions(self) -> frozenset[str]:
        """Names of modules that are compiled, dotted or bare."""
        found = {name for project in self._projects.values() for name in project.extensions}
        for base in ("meson.build", "CMakeLists.txt"):
            for path in self._tree.by_name.get(base, ()):
                found.update(one or other for one, other in _EXTENSION.findall(self._tree.text(path)))
        return frozenset(found)

    @cached_property
    def _written(self) -> frozenset[str]:
        """Files that tools write when they build."""
        projects = self._projects.values()
        return frozenset(f"{project.folder}/{path}".lstrip("/") for project in projects for path in project.made)

    def module(self, at: str, dotted: str, in_package: bool) -> Target | None:
        """Whether a module is made; one in a package of the repository may be so for git's ignoring it alone."""
        for path in self.recipes(at):
            return Target(Origin.GENERATED, (path,), by=f"made from {path}")
        if f"{at}.py" in self._written:
            return Target(Origin.GENERATED, package=dotted, by="the build writes it")
        name = dotted.lstrip(".")
        if name in self._extensions or (in_package and name.rpartition(".")[2] in self._extensions):
            return Target(Origin.GENERATED, package=name, by="compiled extension")
        for path in (f"{at}.py", f"{at}/__init__.py", f"{at}.pyi") if in_package else ():
            ignored = self._ignored.by(path)
            if ignored:
                return Target(Origin.GENERATED, package=name, by=f"{ignored} names {path}")
        return None

    def recipes(self, at: str) -> Iterator[str]:
        """Files that a module is made from."""
        known = self.known(at.rpartition("/")[2])
        if known.get(at):
            yield known[at]

    def known(self, name: str) -> dict[str, str]:
        """The modules of a name that are made, by where they would lie: what from, "" where that is not in the tree."""
        found = self._known.get(name)
        if found is None:
            written = (path.removesuffix(".py") for path in self._written if path.endswith(f"{name}.py"))
            packages = ((at, path) for at, path in self._packages.items() if at.rpartition("/")[2] == name)
            found = self._known[name] = {**dict.fromkeys(written, ""), **dict(packages), **dict(self._named(name))}
        return found

    def _named(self, name: str) -> Iterator[tuple[str, str]]:
        """The modules of a name that are made from a file beside them."""
        for ending in (f"{base}{template}" for base in _BASES for template in _TEMPLATES):
            yield from ((path[: -len(ending)], path) for path in self._tree.by_name.get(name + ending, ()))
        for ending in ("_pb2", "_pb2_grpc"):
            stem = name.removesuffix(ending)
            if stem != name:
                protos = self._tree.by_name.get(f"{stem}.proto", ())
                yield from ((path.removesuffix(".proto") + ending, path) for path in protos)

    @cached_property
    def _packages(self) -> dict[str, str]:
        """The packages whose own file is made."""
        names = (f"__init__{base}{template}" for base in _BASES for template in _TEMPLATES)
        return {path.rpartition("/")[0]: path for name in names for path in self._tree.by_name.get(name, ())}
