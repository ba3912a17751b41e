"""Manifests, one file for each ecosystem of packages: what a package is called, and which others it needs.

A reader's module defines `FILES`, the names of its manifests as patterns, and `read`, which maps the text of one to a
`PackageManifest`. The name of the module is the name of the ecosystem. A manifest is read, never run: in a script, only
literals count. What cannot be read is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, Protocol
from xml.parsers import expat


class NamedVersion(NamedTuple):
    """A package or a requirement, with the line that names it."""

    name: str
    version: str  # of a requirement: the versions that are wanted, as written
    line: int


class PackageManifest(NamedTuple):
    """What one manifest says."""

    packages: tuple[NamedVersion, ...] = ()
    requirements: tuple[NamedVersion, ...] = ()


class ManifestReader(Protocol):
    """Reads the manifests of one ecosystem."""

    @property
    def FILES(self) -> Collection[str]:
        """Patterns of the names of its files."""

    def read(self, path: str, text: str) -> PackageManifest:
        """Return what a manifest says; nothing if it is not valid."""


PROTOCOL = ManifestReader


class Lines:
    """Finds the lines of a text on which words occur."""

    def __init__(self, text: str) -> None:
        self.text = text

    def of(self, *patterns: str) -> int:
        """Return the line of the last of some patterns, each searched behind the one before; 1 if one is missing."""
        at = 0
        for pattern in patterns:
            match = re.compile(pattern, re.M).search(self.text, at)
            if match is None:
                return 1
            at = match.end()
            offset = match.start(1) if match.re.groups else match.start()
        return self.text.count("\n", 0, offset) + 1


class XmlElement(NamedTuple):
    """An element of an XML file, when it ends."""

    path: tuple[str, ...]  # the names of the elements around it, and its own; without namespaces
    line: int
    attributes: Mapping[str, str]
    text: str


def xml_elements(text: str) -> Iterator[XmlElement]:
    """Yield the elements of an XML file in the order of their ends; none if it is not valid, or declares entities."""
    elements: list[XmlElement] = []
    open_: list[tuple[str, int, dict[str, str], list[str]]] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        open_.append((name.rpartition(":")[2], parser.CurrentLineNumber, attributes, []))

    def end(_: str) -> None:
        path = tuple(row[0] for row in open_)
        _, line, attributes, parts = open_.pop()
        elements.append(XmlElement(path, line, attributes, "".join(parts).strip()))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda data: open_[-1][3].append(data) if open_ else None
    parser.EntityDeclHandler = _refuse  # an entity may stand for gigabytes
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, ValueError):
        return
    yield from elements


def _refuse(*_: object) -> None:
    raise ValueError("entities are not expanded")


def texts(value: object) -> list[str]:
    """Return the strings of a list; nothing if it is not a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def table(value: object, *keys: str) -> dict[str, object]:
    """Return the table at some keys of nested tables; an empty one if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
