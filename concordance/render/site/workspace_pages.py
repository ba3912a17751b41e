"""The pages of a workspace's site that are about all repositories: the front page, the map, and results of a search.

In: rows about repositories, their dependencies, and matches. Out: HTML documents. They need no script. All addresses
are relative, so that the site can be anywhere behind a proxy; the site of a repository is below its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from concordance.base.blocks import Diagram, Node, Ref, To, count_noun
from concordance.base.characters import escape_hidden
from concordance.base.version import VERSION
from concordance.render.diagrams.svg import svg
from concordance.render.site.page_frame import MARK, SEARCH

FRONT, MAP = "index.html", "map.html"
MOST_DRAWN = 30  # repositories in the drawing of the map; the table has all of them
_MOST_PACKAGES = 6


class RepositorySummary(NamedTuple):
    """A repository as the front page shows it."""

    name: str
    packages: tuple[str, ...]  # each with its version
    names: int  # exported
    problem: str = ""


class Dependency(NamedTuple):
    """One repository needs another."""

    user: str
    provider: str
    packages: tuple[str, ...]
    mismatch: str = ""  # what is wanted and what is there, if that differs


class SearchMatch(NamedTuple):
    """A definition that was found."""

    repository: str
    name: str
    kind: str
    place: str  # path and line
    address: str


def front_page(title: str, repositories: Sequence[RepositorySummary], dependencies: Sequence[Dependency]) -> str:
    """Return the front page: every repository, what it provides, and how many use it."""
    used = Counter(dependency.provider for dependency in dependencies)
    needs = Counter(dependency.user for dependency in dependencies)
    rows = []
    for repository in repositories:
        packages = ", ".join(repository.packages[:_MOST_PACKAGES])
        more = len(repository.packages) - _MOST_PACKAGES
        packages += f" and {more:,} more" if more > 0 else ""
        where = (
            f'<a href="{escape(repository.name)}/index.html">{_text(repository.name)}</a>'
            if not repository.problem
            else _text(repository.name)
        )
        shown = _text(packages) or f"<em>{_text(repository.problem)}</em>"
        rows.append(
            (where, shown, f"{repository.names:,}", f"{used[repository.name]:,}", f"{needs[repository.name]:,}")
        )
    head = ("Repository", "Packages", "Exported names", "Used by", "Uses")
    summary = count_noun(len(repositories), "repository", "repositories")
    summary += f" with {count_noun(len(dependencies), 'dependency', 'dependencies')} between them"
    body = f'<h1>{_text(title)}</h1>\n<p>{summary}. <a href="{MAP}">Map of dependencies</a></p>\n{_table(head, rows)}'
    wrong = [dependency for dependency in dependencies if dependency.mismatch]
    if wrong:
        body += "\n<h2>Versions that do not match</h2>\n" + _table(
            ("Repository", "Uses", "Wanted, and there"),
            [(_text(dependency.user), _text(dependency.provider), _text(dependency.mismatch)) for dependency in wrong],
        )
    return _document(title, title, body)


def map_page(title: str, dependencies: Sequence[Dependency]) -> str:
    """Return the map: a drawing of the repositories with most dependencies, and a table of all dependencies."""
    degree = Counter(name for dependency in dependencies for name in (dependency.user, dependency.provider))
    shown = sorted(sorted(degree, key=lambda name: (-degree[name], name))[:MOST_DRAWN])
    edges = [
        (dependency.user, dependency.provider, "")
        for dependency in dependencies
        if dependency.user in shown and dependency.provider in shown
    ]
    nodes = [Node(name, name, ref=Ref(To.FOLDER, name)) for name in shown]
    drawing = svg(Diagram(nodes, edges), lambda ref: f"{ref.path}/index.html")
    part = (
        f"<p>Showing the {MOST_DRAWN} repositories with most dependencies of {len(degree):,}.</p>\n"
        if len(degree) > len(shown)
        else ""
    )
    rows = [
        (f'<a href="{escape(dependency.user)}/index.html">{_text(dependency.user)}</a>',
         f'<a href="{escape(dependency.provider)}/index.html">{_text(dependency.provider)}</a>',
         _text(", ".join(dependency.packages)))
        for dependency in dependencies
    ]  # fmt: skip
    body = f"<h1>Map of dependencies</h1>\n{part}{drawing}\n{_table(('Repository', 'Uses', 'Packages'), rows)}"
    return _document(title, "Map of dependencies", body)


def search_results_page(title: str, query: str, matches: Sequence[SearchMatch], note: str) -> str:
    """Return the results of a search over all repositories."""
    rows = [
        (f'<a href="{escape(match.address)}"><code>{_text(match.name)}</code></a>', _text(match.kind),
         f'<a href="{escape(match.repository)}/index.html">{_text(match.repository)}</a>',
         f"<code>{_text(match.place)}</code>")
        for match in matches
    ]  # fmt: skip
    content = _table(("Name", "Kind", "Repository", "Place"), rows) if rows else ""
    return _document(title, "Search", f"<h1>Search</h1>\n<p>{_text(note)}</p>\n{content}", query)


def _text(text: str) -> str:
    return escape(escape_hidden(text))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{title}</th>" for title in head)
    lines = "\n".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="table"><table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>'


def _document(workspace: str, title: str, body: str, query: str = "") -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Concordance {VERSION}">
<title>{_text(title)} · {_text(workspace)}</title>
<link rel="icon" type="image/svg+xml" href="assets/icon.svg">
<link rel="stylesheet" href="assets/site.css">
<link rel="stylesheet" href="assets/page.css">
<link rel="stylesheet" href="assets/drawings.css">
<script src="assets/theme.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="home" href="{FRONT}">{MARK}<span>{_text(workspace)}</span></a>
<form class="search" role="search" action="{SEARCH}" method="get">
<input id="search" name="q" type="search" value="{escape(query)}" placeholder="Search names in all repositories"
 aria-label="Search" autocomplete="off" autocapitalize="off" spellcheck="false">
</form>
</header>
<div class="content">
<main id="main" tabindex="-1">
{body}
</main>
<footer>Generated by Concordance {VERSION}</footer>
</div>
</body>
</html>
"""
