"""`python -m bench book ROOT [OUT]`: size, speed and correctness of a repository's book.

In: a repository (its book is written to OUT, by default ROOT/docs); with `--cold` also the time of a build from nothing
(removes the store and the book first); with `--seeds FOLDER` pages of another system about the same files. Out: the
table of `python -m bench`, with details below it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.bookwords import seeds_compared, shared
from concordance.base.model import Skip
from concordance.collect import encoding, walk
from concordance.facts.read import Facts
from concordance.render.addresses import claims_of
from concordance.render.output import manifest
from concordance.workflow import builds
from concordance.workflow.store_location import FOLDER
from tests.support import measure
from tests.support.measure import row

CONCORD = str(Path(sys.executable).parent / "concord")


def build(root: Path, out: Path, cold: bool) -> None:
    """Write the book; with `cold` from nothing, compared with ctags."""
    command = [CONCORD, "build", str(root), "--out", str(out), "--jobs", "2", "--json"]
    if not cold:
        measure.run(command)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            shutil.rmtree(root / FOLDER, ignore_errors=True)
            shutil.rmtree(out, ignore_errors=True)
            tags = min(measure.run(["ctags", "-R", "-f", f"{scratch}/tags", "."], str(root)).seconds for _ in range(2))
            made = measure.run(command, env={"CONCORDANCE_CACHE": scratch})
        steps = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in json.loads(made.output.split("\n")[-2])["seconds"].items())
        row("cold build with all pages", "<= 10 x ctags -R", f"{made.seconds:.1f} s = {made.seconds / tags:.1f} x {tags:.1f} s: {steps}")
        row("peak memory of all processes", "<= 1.5 GiB", f"{made.peak / 2**30:.2f} GiB")
    before = _stamps(out)
    again = min(measure.run(command).seconds for _ in range(2))
    same = "no time stamp changed" if _stamps(out) == before else "TIME STAMPS CHANGED"
    row("second build, nothing changed", "<= 1 s", f"{again:.2f} s, {same}")


def _stamps(out: Path) -> dict[str, int]:
    return {path: os.lstat(out / path).st_mtime_ns for path in manifest.files(str(out))}


def sizes(root: Path, out: Path) -> None:
    """Return the size of the book relative to the documented text."""
    pages = manifest.read(str(out)).pages
    with Facts(str(root / FOLDER)) as facts:
        text = sum(file.size for file in facts.files() if file.skip == Skip.NONE)
    whole = sum(one.size for one in pages.values())
    kinds: Counter[str] = Counter()
    for one in pages.values():
        kinds[one.kind] += 1
    beside = sum(os.path.getsize(out / claims_of(page)) for page, one in pages.items() if one.claims)
    row("pages", "", f"{len(pages):,}: " + ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common()))
    row("size of the book / text documented", "<= 3", f"{whole / text:.2f} ({whole / 1e6:.1f} MB / {text / 1e6:.1f} MB)")
    row("the same without the source", "<= 1.5", f"{(whole - text) / text:.2f}; claims beside the pages {beside / text:.2f}")
    by_kind: Counter[str] = Counter()
    for one in pages.values():
        by_kind[one.kind] += one.size
    row("bytes by kind of page", "", ", ".join(f"{kind} {size / 1e6:.1f} MB" for kind, size in by_kind.most_common()))


def verified(root: Path, out: Path) -> None:
    """Run `concord verify` right after a build."""
    with tempfile.TemporaryDirectory() as scratch:
        told = Path(scratch, "problems")
        asked = [CONCORD, "verify", "--repo", str(root), "--out", str(out), "--jobs", "2", "--json"]
        found = measure.run(["sh", "-c", f"{shlex.join(asked)} > {told} || true"])
        problems = json.loads(told.read_text())
    broken = [one for one in problems if one["problem"].startswith("the link ")]
    missing = [one for one in problems if one["problem"].startswith("the page is missing")]
    row("broken links", "0", f"{len(broken)}")
    row("files without page or ledger entry", "0", f"{len(missing)}; the walk has {len(_unlisted(root))} that the ledger has not")
    row("verify right after a build", "0 problems", f"{len(problems)} problems, {found.seconds:.1f} s")
    for one in problems[:20]:
        print(f"    {one['page']}:{one['line']}: {one['problem']}")


def _unlisted(root: Path) -> set[str]:
    with Facts(str(root / FOLDER)) as facts:
        listed = {file.path for file in facts.files()}
    return {entry.path for entry in walk.walk(str(root))} - listed


def fences(root: Path, out: Path, sample: int) -> None:
    """Check with a Markdown parser that each page's source equals the file."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    with Facts(str(root / FOLDER)) as facts:
        files = [f.path for f in facts.files() if f.skip == Skip.NONE and 0 < f.size < 900_000]
    chosen = random.Random(4).sample(files, min(sample, len(files)))
    broken = []
    for path in chosen:
        page = out / f"{path}_docs.md"
        if not page.exists():  # its name is too long, or taken
            continue
        read = encoding.read((root / path).read_bytes(), True)
        assert read is not None
        text = read.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        behind, found = False, None
        for token in parser.parse(page.read_bytes().decode()):
            behind = behind or (token.type == "inline" and token.content == "Original Source")
            if behind and token.type == "fence":
                found = token.content
                break
        if found != (text if text.endswith("\n") else f"{text}\n"):
            broken.append(path)
    row("fences broken by a source", "0", f"{len(broken)} of {len(chosen)} {broken[:5] if broken else ''}")


def edits(root: Path, out: Path) -> None:
    """Edit ten random lines of a copy, and check that exactly the pages that became false are named."""
    pages = manifest.read(str(out)).pages
    with tempfile.TemporaryDirectory(dir=root.parent) as scratch, Facts(str(root / FOLDER)) as facts:
        copy = Path(scratch) / root.name
        files = [file for file in facts.files() if file.skip not in (Skip.SYMLINK, Skip.SUBMODULE, Skip.UNREADABLE)]
        for path in [*(f.path for f in files), *(os.path.join(os.path.relpath(out, root), p) for p in manifest.files(str(out)))]:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            os.link(root / path, copy / path)
        there = copy / os.path.relpath(out, root)
        chance = random.Random(10)
        texts = [f.path for f in files if f.skip == Skip.NONE and f.size and f.encoding == "utf-8"]
        for path in chance.sample(texts, 10):
            lines = (root / path).read_bytes().decode().split("\n")
            lines[chance.randrange(len(lines))] += " edited"
            (copy / path).unlink()
            (copy / path).write_bytes("\n".join(lines).encode())
        named = {one.page for one in builds.verify(str(copy), str(there), 2).problems}
        before = {page: _digests(there, page) for page in {*pages, *named}}
        builds.write_book(str(copy), str(there), jobs=2)
        false = {page for page, digests in before.items() if digests != _digests(there, page)}
    bar = "all pages that became false, no other"
    row("verify after 10 random lines were edited", bar, f"{len(false)} became false, {len(false & named)} of them named, {len(named - false)} others")


def _digests(out: Path, page: str) -> tuple[str, ...]:
    found = (manifest.read_regular_file(str(out / path)) for path in (page, claims_of(page)))
    return tuple(manifest.digest(data) if data is not None else "" for data in found)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--cold", action="store_true", help="remove store and book first, and measure time and memory")
    parser.add_argument("--seeds", type=Path, help="a folder of pages to compare with")
    parser.add_argument("--sample", type=int, default=500, help="pages that are parsed")
    options = parser.parse_args(arguments)
    out = options.out or options.root / "docs"
    print("| what | bar | measured |\n|---|---|---|")
    build(options.root, out, options.cold)
    sizes(options.root, out)
    verified(options.root, out)
    fences(options.root, out, options.sample)
    if out.resolve().is_relative_to(options.root.resolve()):
        edits(options.root, out)
    share, phrases, sentences = shared(out)
    row("words in sentences shared by > 1 % of file pages", "<= 15 %", f"{share:.1%} with headings and labels; {phrases:.1%} in phrases of four words and more")
    row("the same on pages about code", "<= 12 %", f"{shared(out, code=True)[1]:.1%} in phrases of four words and more")
    print("\nshared sentences: words in all, share of all words, pages, text")
    for sentence, (words, of_all, pages) in sentences[:60]:
        print(f"    {words:9,} {of_all:6.2%} {pages:7,}  {sentence}")
    if options.seeds:
        seeds_compared(options.seeds, options.root, out)


if __name__ == "__main__":
    main()
