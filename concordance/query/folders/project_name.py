"""The name of a repository: how its authors publish it, written as they write it.

In: an index. Out: a name. Candidates are the names in manifests at the root, in the order of `_MANIFESTS`, then that of
the remote, then the title of the README. The README's opening decides among them: it usually writes the name the way
people know it (`PyTorch`, while the package is called `torch`), so the candidate that occurs in it first wins, in its
spelling. What its first sentence is about is a candidate too, if it contains another one. The name of a private package
of a monorepo, which nobody outside uses, does not count. The last resort is the folder at the root that has most of the
source. The name of the repository's own folder is not used, because it
differs between clones, and the same files must give the same book.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from concordance.base.model import Category, Kind, Skip
from concordance.facts.updates.reads import ANY_UPDATE, shared_until
from concordance.query.index.ledger import ledger, outline
from concordance.query.index.repository import Index

READMES = (
    "readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown", "readme.adoc", "readme.asciidoc", "readme.org"
)  # fmt: skip
_MAX_BYTES = 300_000  # of a manifest or README that are read
_OPENING = 4_000  # characters of a README in which its name is searched for
_SUBJECT = re.compile(r"^[*_]*([A-Z][\w.+-]*(?: [A-Z][\w.+-]*)?)[*_]* (?:is|provides|contains) ", re.M)
_LETTERS = re.compile(r"[\W_]+")
_PLAIN = re.compile(r"[\w@][\w.@/+ -]{0,59}")
_GENERIC = re.compile(
    r"(?:read ?me|(?:table of )?contents|overview|introduction|about|installation|install|getting started|quick ?start|"
    r"documentation|usage|welcome|what|why|how|features|license|licence|status|news|changelog)\b|.*\?\s*\Z",
    re.I,
)


def _pyproject(text: str) -> Iterator[str]:
    settings = tomllib.loads(text)
    yield settings.get("project", {}).get("name", "")
    yield settings.get("tool", {}).get("poetry", {}).get("name", "")


def _package_json(text: str) -> Iterator[str]:
    manifest = json.loads(text)
    if not manifest.get("private"):
        yield manifest.get("name", "")


def _cargo(text: str) -> Iterator[str]:
    manifest = tomllib.loads(text)
    yield manifest.get("package", {}).get("name", "")
    programs = manifest.get("bin", ())  # the program `fd` is published as the package `fd-find`
    yield programs[0].get("name", "") if len(programs) == 1 else ""
    members = [str(path).rstrip("/*").rpartition("/")[2] for path in manifest.get("workspace", {}).get("members", ())]
    for name in members:  # the crate that the others are named after: tokio, of tokio-macros and tokio-util
        if len(members) > 1 and all(other == name or other.startswith((f"{name}-", f"{name}_")) for other in members):
            yield name


def _composer(text: str) -> Iterator[str]:
    yield json.loads(text).get("name", "").rpartition("/")[2]


_PARTS = re.compile(  # parts of a Maven project that have names of their own
    r"<(parent|dependencies|build|profiles|dependencyManagement|organization|licenses|developers|contributors|"
    r"distributionManagement|reporting|repositories)\b.*?</\1>|<!--.*?-->",
    re.S,
)


_PARENT = re.compile(r"(?i)[ _-]+(?:parent(?: pom)?|root)$")  # what modules have in common, not a name for readers


def _maven(text: str) -> Iterator[str]:
    bare = _PARTS.sub("", text)
    for tag in ("name", "artifactId"):
        match = re.search(rf"<{tag}>\s*([^<>]*?)\s*</{tag}>", bare)
        yield _PARENT.sub("", match[1]) if match else ""


def _gradle(text: str) -> Iterator[str]:
    match = re.search(r"^\s*rootProject\.name[ \t]*=[ \t]*[\"']([^\"'\n]+)[\"']", text, re.M)
    yield _PARENT.sub("", match[1]) if match else ""


def _matching(pattern: str) -> Callable[[str], Iterator[str]]:
    """Return a reader for manifests in which the first match of a pattern is the name."""
    compiled = re.compile(pattern, re.M)

    def read(text: str) -> Iterator[str]:
        match = compiled.search(text)
        yield match[1] if match else ""

    return read


_MANIFESTS: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    ("pyproject.toml", _pyproject),
    ("setup.cfg", _matching(r"^\[metadata\][^\[]*?^name[ \t]*=[ \t]*(\S+)")),
    ("setup.py", _matching(r"^[^#\n]*\bname[ \t]*=[ \t]*[\"']([\w.-]+)[\"']")),
    ("package.json", _package_json),
    ("cargo.toml", _cargo),
    ("go.mod", _matching(r"^module[ \t]+(?:\S*/)?((?!v\d+\s)[^\s/]+)(?:/v\d+)?[ \t]*(?://.*)?$")),
    ("pom.xml", _maven),
    ("settings.gradle*", _gradle),
    ("composer.json", _composer),
    ("description", _matching(r"^Package:[ \t]*(\S+)")),
    ("*.cabal", _matching(r"^(?i:name):[ \t]*(\S+)")),
    ("*.gemspec", _matching(r"(?:\.name[ \t]*=|Specification\.new[ (])[ \t]*[\"']([\w.-]+)[\"']")),
    ("*.rockspec", _matching(r"^package[ \t]*=[ \t]*[\"']([\w.-]+)[\"']")),
    ("mix.exs", _matching(r"\bapp:[ \t]*:(\w+)")),
    ("package.swift", _matching(r"\bname:[ \t]*\"([\w.-]+)\"")),
    ("dune-project", _matching(r"\(name[ \t]+([\w.-]+)\)")),
    ("cmakelists.txt", _matching(r"^[ \t]*(?i:project)[ \t]*\(\s*\"?([\w.+-]+)")),
    ("meson.build", _matching(r"^project\([ \t]*'([\w.+ -]+)'")),
    ("configure.ac", _matching(r"^AC_INIT\([ \t]*\[?([\w.+ -]+)\]?")),
)


def name_of(index: Index) -> str:
    """Return the name of the repository."""
    index.reads.note("title", "")
    return _name(index)


@shared_until(ANY_UPDATE)
def _name(index: Index) -> str:
    with index.reads.not_recording():
        files = root_files(index)
        manifests, remote = list(filter(None, _from_manifests(index, files))), index.facts.meta().get("remote", "")
        candidates = [*manifests, *([remote] if remote else [])]
        opening = _readme_text(index)
        places = [match for name in (*_subject(opening, candidates), *candidates) if (match := _find(name, opening))]
        if places:
            return " ".join(min(places, key=lambda match: match.start())[0].split())
        title = _readme_title(index)
        return next(filter(None, (*manifests, title, remote)), "") or _main_folder(index) or "repository"


def _main_folder(index: Index) -> str:
    """Return the folder at the root that has most source files; "" if none has any."""
    rows = ((path, category) for _, path, _, category in index.file_rows if "/" in path)
    tops = Counter(path.partition("/")[0] for path, category in rows if category == Category.SOURCE)
    return min(tops, key=lambda name: (-tops[name], name), default="")


def root_files(index: Index) -> dict[str, str]:
    """Return the files at the root by their names in lower case. `folders` knows them too, but takes seconds to
    compute, and every page of a site shows the repository's name."""
    with index.reads.not_recording():
        return {path.lower(): path for path in sorted(index.files_in(""), reverse=True)}


def readme_of(index: Index) -> str:
    """Return the path of the README at the root, or of the file that it is a link to; "" if there is none."""
    files = root_files(index)
    readme = next((files[name] for name in READMES if name in files), "")
    row = ledger(index).files.get(readme)
    if row is not None and row.skip == Skip.SYMLINK:
        readme = os.path.normpath(row.note.removeprefix("points to "))
        row = ledger(index).files.get(readme)
    return readme if row is not None and row.skip == Skip.NONE else ""


def _from_manifests(index: Index, files: dict[str, str]) -> Iterator[str]:
    """Yield the names in the manifests at the root."""
    for pattern, read in _MANIFESTS:
        for lower in sorted(files):
            if fnmatchcase(lower, pattern):
                text = _text(index, files[lower])
                try:
                    yield from (name for name in read(text) if isinstance(name, str) and _PLAIN.fullmatch(name))
                except (ValueError, AttributeError, TypeError):  # not a manifest after all
                    continue


def _text(index: Index, path: str) -> str:
    return index.runners.text(path, _MAX_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")


def _readme_text(index: Index) -> str:
    """Return the beginning of the README without comments, code, addresses and tags."""
    path = readme_of(index)
    if not path:
        return ""
    text = re.sub(r"<!--.*?-->|`[^`\n]*`|<[^<>]*>|\]\([^()]*\)|https?://\S+", " ", _text(index, path), flags=re.S)
    return text[:_OPENING]


def _find(name: str, opening: str) -> re.Match[str] | None:
    """Return where the README writes a name first, in whatever spelling; None if it does not."""
    words = [re.escape(word) for word in re.split(r"[-_. ]+", name) if word]
    pattern = r"[-_. ]?".join(words)
    return re.search(rf"(?<![\w/.@:-]){pattern}(?![\w/-]|\.\w)", opening, re.I) if words else None


def _subject(opening: str, candidates: list[str]) -> list[str]:
    """Return what the README's first sentence is about, if that contains the name of a candidate."""
    match = _SUBJECT.search(opening)
    letters = _LETTERS.sub("", match[1]).lower() if match else ""
    return [match[1]] if match and any(_LETTERS.sub("", name).lower() in letters for name in candidates) else []


def _readme_title(index: Index) -> str:
    """Return the title of the README if it is a name."""
    path = readme_of(index)
    heads = [s for s in outline(index, path).symbols if s.kind == Kind.HEADING][:1] if path else []
    name = heads[0].name.strip("` ") if heads and heads[0].line < 12 else ""
    return name if name and len(name.split()) <= 3 and not _GENERIC.match(name) else ""
