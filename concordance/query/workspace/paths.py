"""Finds how one symbol reaches another, across repositories.

In: where a chain begins and where it ends, each as symbols of some repositories. Out: the steps of a shortest chain.
The search goes backwards from the end, breadth first: over the graph of each repository, and from one repository into
those that use what it exports.
"""

from __future__ import annotations

from collections.abc import Sequence

from concordance.base.model import Trust
from concordance.facts.links.graph import EdgeKind
from concordance.facts.read import SymbolPlace
from concordance.query.answers import Row, full_name
from concordance.query.index.graphs.reachability import EDGE_VERBS
from concordance.query.names.display_names import display_name
from concordance.query.workspace.linking import WorkspaceLinks, users_in
from concordance.query.workspace.repositories import OpenWorkspace

_MAX_EDGES, _MAX_STEPS = 200_000, 24
Node = tuple[str, int]  # repository and id
_Step = tuple[Node, str, str, str]  # the next symbol towards the end, how, trust, by


def find_path(
    workspace: OpenWorkspace, links: WorkspaceLinks, begin: Sequence[tuple[str, list[SymbolPlace]]],
    end: Sequence[tuple[str, list[SymbolPlace]]],
) -> tuple[list[Row], int]:  # fmt: skip
    """Return the steps of a shortest chain, and how many uses were visited."""
    begins = {(repository, place.id) for repository, places in begin for place in places}
    towards: dict[Node, _Step | None] = {(repo, place.id): None for repo, places in end for place in places}
    level, visited = list(towards), 0
    for _ in range(_MAX_STEPS):
        met = sorted(begins & towards.keys())
        if met or not level or visited > _MAX_EDGES:
            return (_rows(workspace, met[0], towards) if met else []), visited
        following: list[Node] = []
        for node in level:
            for user, step in _users(workspace, links, node):
                visited += 1
                if user not in towards:
                    towards[user] = step
                    following.append(user)
        level = following
    return [], visited


def _users(workspace: OpenWorkspace, links: WorkspaceLinks, node: Node) -> list[tuple[Node, _Step]]:
    """Return what uses a symbol directly, in its own repository and in others."""
    repository, identity = node
    index = workspace.index(repository)
    users: list[tuple[Node, _Step]] = []
    for user, way in index.graph.users(identity):
        kind = EdgeKind(way)
        if kind != EdgeKind.MENTIONS:
            users.append(
                ((repository, user), (node, EDGE_VERBS[kind], Trust.EXACT.name.lower(), "graph of its repository"))
            )
    place = index.facts.place(identity)
    for use in links.uses(repository, [place]) if place is not None else ():
        other = workspace.index(use.repository)
        for one, calls in users_in(other, use):
            step = (node, "calls" if calls else "uses", use.trust.name.lower(), use.by)
            users.append(((use.repository, one.id), step))
    return users


def _rows(workspace: OpenWorkspace, node: Node, towards: dict[Node, _Step | None]) -> list[Row]:
    rows: list[Row] = []
    step = towards[node]
    while step is not None:
        here, there = (workspace.index(pair[0]).facts.place(pair[1]) for pair in (node, step[0]))
        if here is not None and there is not None:
            rows.append({
                "repository": node[0], "path": here.path, "line": here.line,
                "name": display_name(workspace.index(node[0]), here) or full_name(here), "how": step[1],
                "to": display_name(workspace.index(step[0][0]), there) or full_name(there),
                "to_repository": step[0][0], "to_path": there.path, "to_line": there.line, "trust": step[2],
                "by": step[3],
            })  # fmt: skip
        node = step[0]
        step = towards[node]
    return rows
