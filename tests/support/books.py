"""Books for tests: written from small repositories, and read with an independent Markdown parser."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from concordance.base.config import Book
from concordance.base.progress import ignore_progress
from concordance.collect import encoding, own_output
from concordance.render.output import manifest
from concordance.render.summary import Problem
from concordance.workflow import builds
from tests.support import golden_files

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OUR_TAG = re.compile(r'<a id="def-[^"<>]*">|</a>')


def copied(folder: Path) -> Path:
    """Copy the sample repository."""
    root = folder / "sample"
    shutil.copytree(golden_files.SAMPLE, root, ignore=shutil.ignore_patterns(".concordance", "__pycache__"))
    return root


def write(root: Path, out: Path, jobs: int = 1, generated: bool = False) -> Any:
    """Build a repository and write its book; fail if a page cannot be made."""
    _, written = builds.write_book(str(root), str(out), Book(generated=generated), jobs, ignore_progress)
    assert not written.failed
    return written


def problems(root: Path, out: Path) -> list[Problem]:
    """Return what `verify` finds."""
    return builds.verify(str(root), str(out), 1).problems


def contents(out: Path) -> dict[str, bytes]:
    """Return every file of a book."""
    return {path: (out / path).read_bytes() for path in sorted(manifest.files(str(out)))}


def pages(out: Path) -> dict[str, str]:
    """Return every page of a book."""
    return {path: data.decode() for path, data in contents(out).items() if own_output.is_page(path)}


def inline(tokens: list[Token]) -> Iterator[Token]:
    """Return every token of a text, at any depth."""
    for token in tokens:
        yield token
        yield from inline(token.children or [])


def links(text: str) -> Counter[str]:
    """Return the link targets of a page according to the parser, without bare addresses."""
    found: Counter[str] = Counter()
    for token in inline(PARSER.parse(text)):
        if token.type == "link_open" and token.markup != "autolink":
            found[unquote(str(token.attrs["href"]))] += 1
        elif token.type == "image":
            found[unquote(str(token.attrs["src"]))] += 1
    return found


def anchors(text: str) -> list[str]:
    """Return the anchors of a page according to the parser: those of headings, as Git hosts make them, and those of
    tags."""
    found, seen = [], Counter[str]()
    tokens = PARSER.parse(text)
    for place, token in enumerate(tokens):
        inside = list(inline([token]))
        if place and tokens[place - 1].type == "heading_open" and not tokens[place - 1].level:
            said = "".join(t.content for t in inside[1:] if t.type in ("text", "code_inline", "text_special"))
            name = re.sub(r"[^\w\- ]", "", said.strip().lower()).replace(" ", "-")
            found.append(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
        found += [m[1] for t in inside if t.type == "html_inline" and (m := re.match(r'<a id="([^"]*)"', t.content))]
    return found


def is_safe(text: str) -> list[str]:
    """True if a page has no HTML but ours, and no link that leads to a program."""
    tokens = list(inline(PARSER.parse(text)))
    odd = [t.content for t in tokens if t.type == "html_block"]
    odd += [t.content for t in tokens if t.type == "html_inline" and not OUR_TAG.fullmatch(t.content)]
    hrefs = [str(t.attrs["href"]) for t in tokens if t.type == "link_open"]
    odd += [href for href in hrefs if re.match(r"(?!https?:|mailto:|ftp:)[a-z][a-z0-9+.-]*:", href, re.I)]
    odd += [str(t.attrs["src"]) for t in tokens if t.type == "image"]
    return odd


def source_of(text: str) -> str | None:
    """Return the source that a page contains, according to the parser."""
    behind = False
    for token in PARSER.parse(text):
        if token.type == "inline" and not token.level - 1 and token.content == "Original Source":
            behind = True
        elif behind and token.type == "fence":
            return token.content
        elif behind and token.type == "heading_open":
            return None
    return None


def as_parsed(data: bytes) -> str:
    """Return a file's text as a Markdown parser returns it."""
    read = encoding.read(data, True)
    assert read is not None
    text = re.sub(r"\r\n?", "\n", read.text).replace("\0", "\ufffd")
    return text if text.endswith("\n") else f"{text}\n"


def file_pages(root: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Return the files of a repository, each with the text of its page."""
    for folder, _, names in os.walk(root):
        if ".concordance" in folder or Path(folder).is_relative_to(out):
            continue
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            yield path, (out / f"{path}_docs.md").read_bytes().decode()


def sources(root: Path, out: Path) -> list[str]:
    """Return the files of a repository that are not pages."""
    found = (path for path in manifest.files(str(root)) if not path.startswith(".concordance/"))
    inside = os.path.relpath(out, root) + "/"
    return sorted(path for path in found if not path.startswith(inside))
