"""Writes the goldens: what the program says about the sample repository, for a person to read as a diff.

`make golden` rewrites `tests/golden/`; nobody edits it by hand.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from concordance.base.config import Book, Config
from concordance.base.model import File, FileFacts, Role, Trust, unpack_column
from concordance.extract.registry import language_of
from concordance.facts.read import Facts
from concordance.query.answers import qualified
from concordance.render.output import manifest
from concordance.workflow import builds
from concordance.workflow.pipeline import Build
from concordance.workflow.store_location import FOLDER
from tests.support import ctags, python

SAMPLE = Path(__file__).parents[1] / "sample"
GOLDEN = Path(__file__).parents[1] / "golden"


def built(folder: Path) -> Path:
    """Copy the sample and build its store."""
    root = folder / "sample"
    shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns(FOLDER, "__pycache__"))
    Build(str(root), Config(jobs=1)).run()
    return root


def facts(root: Path) -> str:
    """Return every file of the sample with its facts."""
    with Facts(str(root / FOLDER)) as store:
        return "\n".join(_file(file, store.of(file.path)) for file in store.files())


def links(root: Path) -> str:
    """Return the targets of the sample's imports and names, and how many have none."""
    lines = []
    with Facts(str(root / FOLDER)) as store:
        for file in store.files():
            found, said = store.of(file.path), store.links(file.path)
            best: dict[int, tuple[int, int, int]] = {}
            for use, *claim in zip(unpack_column(said.use), unpack_column(said.target), said.trust, said.by, strict=True):
                best.setdefault(use, (claim[0], claim[1], claim[2]))
            rows = [f"import   {i.line} {i.module} {i.name} -> {t.origin} {' '.join(t.paths) or t.package} ({t.by})"
                    for i, t in zip(found.imports, said.imports, strict=False)]  # fmt: skip
            names = list(zip(found.occurrences.rows(), unpack_column(found.occurrences.use), strict=False))
            free = 0
            for one, use in names:
                claimed = best.get(use - 1)
                if claimed is not None and one.role != Role.DEFINE:
                    place = store.place(claimed[0])
                    where = f"{place.path}:{place.line}" if place is not None else "?"
                    rows.append(f"name     {one.line}:{one.col} {one.name} -> {where} {Trust(claimed[1]).name.lower()} ({said.resolvers[claimed[2]]})")
                free += claimed is None and one.bound < 0
            if rows:
                lines += [f"== {file.path}: {len(rows)} links, {free} names from elsewhere lead nowhere", *rows]
    return "\n".join(lines) + "\n"


def _file(file: File, found: FileFacts) -> str:
    m = found.metrics
    lines = [
        f"== {file.path}",
        f"{file.type}; {file.category}; {file.language or '-'}; {file.encoding or '-'}; {file.size} bytes; "
        f"{m.lines} lines: {m.code} code, {m.comment} comment, {m.blank} blank" + (f"; {file.skip}: {file.note}" if file.skip else ""),
    ]
    lines += [f"doc      {found.doc!r}"] if found.doc else []
    lines += [f"exports  {', '.join(found.exports)}"] if found.exports is not None else []
    for i in found.imports:
        lines.append(f"import   {i.line} {i.module} {i.name} {i.alias} {i.form} {i.condition}".rstrip())
    for s in found.symbols:
        name = qualified(s, language_of(file.language).separator)
        marks = [m for m, on in (("private", not s.public), ("declaration", s.declaration)) if on]
        marks += [f"[{s.condition}]"] if s.condition else []
        lines.append(f"symbol   {s.line}-{s.end_line} {s.kind} {name} :: {s.signature} {' '.join(marks)}".rstrip())
        lines += [f"           doc {s.doc!r}"] if s.doc else []
    for o in found.occurrences.rows():
        bound = "" if o.bound < 0 else f" -> {o.bound}"
        lines.append(f"name     {o.line}:{o.col} {o.name} {o.role}{bound}")
    lines += [f"term     {t.kind} {t.text!r} x{t.times} line {t.line} {t.stands_for}".rstrip() for t in found.terms]
    lines += [f"finding  {f.line} {f.by} {f.severity}: {f.message}" for f in found.findings]
    return "\n".join(lines) + "\n"


PAGES = (
    "abacus/ledger.py_docs.md", "abacus/ledger.py_kw.md", "abacus/doc.md", "abacus/index.md", "abacus/sub.md",
    "native/include/abacus/sum.h_docs.md", "CMakeLists.txt_docs.md", ".github/workflows/ci.yml_docs.md",
    "README.md_docs.md", "tests/test_ledger.py_docs.md", "abacus/py.typed_docs.md", "docs/logo.png_docs.md", "index.md",
    "keywords.md", "comprehensive_book.md", "book/abacus.md", "verification_report.md",
)  # fmt: skip


def book(root: Path) -> str:
    """Return some pages of the sample's book, one of each kind, without sources; and the names of all pages."""
    out = root / "site"
    _, written = builds.write_book(str(root), str(out), Book(), 1)
    assert not written.failed
    listed = sorted(manifest.read(str(out)).pages)
    shown = []
    for page in PAGES:
        text = (out / page).read_text() if page in listed else "not there\n"
        text = re.sub(r"^(## Original Source\n\n)(`{3,})\w*\n.*?^\2\n", r"\1(the source)\n", text, flags=re.M | re.S)
        shown.append(f"{'=' * 20} {page}\n\n{text}\n")
    return "".join(shown) + f"{'=' * 20} all pages\n\n" + "\n".join(listed) + "\n"


def figures() -> str:
    """Return how the facts of the sample compare with those of independent programs."""
    found = python.total(map(python.compare_file, python.python_files(str(SAMPLE))))
    rows = [
        f"python: {found.files} files, {found.definitions} definitions and imports, {found.missing} missing, "
        f"{found.invented} invented; {found.names} names, {found.scopes_differ} scopes differ",
    ]
    for kind, ours, theirs, both, score in ctags.run(SAMPLE, 1)[0]:
        rows.append(f"ctags {kind}: ours {ours}, theirs {theirs}, both {both}, F1 {score:.4f}")
    return "\n".join(rows) + "\n"
