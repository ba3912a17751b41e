"""`concord workspace`: ask and browse many repositories as one.

In: the folder of a workspace. Out: its `workspace.toml`, the stores of its repositories, and the catalogue that links
them (`workflow/stages/catalogue.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import click

from concordance.base.blocks import count_noun
from concordance.base.characters import escape_hidden
from concordance.base.errors import ConcordanceError, StoreBroken, UserError
from concordance.query.workspace import workspace_file


@click.group("workspace")
def _group() -> None:
    """Ask and browse many repositories at once.

    A workspace is a folder with a list of repositories, each of which keeps its own store, and a catalogue of what they
    provide to one another. `define`, `refs`, `callers`, `impact`, `path` and `search` ask all of them with --workspace
    DIR, or inside the folder; `concord serve --workspace DIR` shows them as one site.

    \b
    concord workspace init ~/team
    concord workspace add ~/src/flask ~/src/click --workspace ~/team
    concord workspace build --workspace ~/team
    concord refs click.Command --workspace ~/team
    """


_WORKSPACE = click.option(
    "--workspace", "folder", metavar="DIR", help="The workspace (default: the one around the current folder)."
)


def find(folder: str | None) -> str:
    """Return the folder of the workspace that a command is about."""
    workspace = os.path.abspath(folder) if folder is not None else workspace_file.find_workspace(os.getcwd())
    if workspace is None:
        raise UserError("this folder is not in a workspace", "Name one (--workspace DIR), or: concord workspace init")
    return workspace


@_group.command("init")
@click.argument("folder", type=click.Path(), default=".")
def init(folder: str) -> None:
    """Create a workspace in a folder.

    \b
    concord workspace init ~/team
    """
    if workspace_file.is_workspace(folder):
        raise UserError(f"{os.path.abspath(folder)} is a workspace already", "Add to it: concord workspace add PATH")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder} cannot be created: {error.strerror}", "Choose another folder") from error
    workspace_file.write_repositories(os.path.abspath(folder), {})
    inside = "" if os.path.samefile(folder, ".") else f"cd {folder}; "
    workspace_path = os.path.join(folder, workspace_file.FILE)
    click.echo(escape_hidden(f"created {workspace_path}; next: {inside}concord workspace add PATH..."))


@_group.command("add")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--name", metavar="NAME", help="What the repository is called (default: its folder's name).")
@_WORKSPACE
def add(paths: tuple[str, ...], name: str | None, folder: str | None) -> None:
    """Add repositories to a workspace.

    \b
    concord workspace add ~/src/flask ~/src/click
    concord workspace add ~/src/old/flask --name flask-2
    """
    if name is not None and len(paths) > 1:
        raise UserError("--name is for one repository", "Add the repositories one by one")
    root = find(folder)
    known = workspace_file.read_repositories(root)
    for path in paths:
        place = os.path.abspath(path)
        if not os.path.isdir(place):
            raise UserError(f"{path} is not a folder", "Name the folder of a repository")
        if os.path.samefile(place, root):
            raise UserError(f"{path} is the workspace itself", "Name the folder of a repository")
        called = name or os.path.basename(place)
        workspace_file.check_name(called)
        if known.get(called, place) != place:
            raise UserError(f"{called} is the repository {known[called]} already", "Choose another name with --name")
        known[called] = place
    workspace_file.write_repositories(root, known)
    click.echo(f"{count_noun(len(known), 'repository', 'repositories')} listed; next: concord workspace build")


@_group.command("remove", short_help="Remove repositories from a workspace.")
@click.argument("names", nargs=-1, required=True)
@_WORKSPACE
def remove(names: tuple[str, ...], folder: str | None) -> None:
    """Remove repositories from a workspace; their folders and stores stay.

    \b
    concord workspace remove flask
    """
    root = find(folder)
    known = workspace_file.read_repositories(root)
    for name in names:
        if known.pop(name, None) is None:
            raise UserError(f"the workspace has no repository {name}", "List them with: concord workspace status")
    workspace_file.write_repositories(root, known)
    click.echo(f"{count_noun(len(known), 'repository', 'repositories')} listed; next: concord workspace build")


@_group.command("build", short_help="Update the repositories and the catalogue.")
@click.argument("names", nargs=-1)
@_WORKSPACE
@click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON.")
def build(names: tuple[str, ...], folder: str | None, as_json: bool) -> None:
    """Update the stores of all repositories, or of those named, and the catalogue.

    A repository that fails is reported, and the others are built; the exit code is then 1.

    \b
    concord workspace build
    concord workspace build flask
    """
    from concordance.workflow import terminal
    from concordance.workflow.stages import catalogue

    with terminal.ProgressBars() as bar:
        done = catalogue.build(find(folder), names, bar.show)
    if as_json:
        click.echo(json.dumps(done._asdict()))
    else:
        words = [f"{len(done.updated):,} updated", f"{len(done.unchanged):,} unchanged"]
        words += [f"{len(done.removed):,} removed"] if done.removed else []
        click.echo(", ".join(words))
    for name, why in done.failed.items():
        click.echo(escape_hidden(f"concord: {name}: {why}"), err=True)
    if done.failed:
        raise SystemExit(1)


@_group.command("status", short_help="List the repositories and what is wrong.")
@_WORKSPACE
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def status(folder: str | None, as_json: bool) -> None:
    """List the repositories, what they provide and require, and what does not fit: missing folders, damaged stores,
    versions, packages. The exit code is 1 if a repository is missing or its store is damaged.

    \b
    concord workspace status
    concord workspace status --json
    """
    root = find(folder)
    rows = list(_status_rows(root))
    if as_json:
        click.echo(json.dumps(rows))
    else:
        for row in rows:
            click.echo(escape_hidden(f"{row['repository']}: {row['says']}"))
    if any(row["problem"] in (_MISSING, _DAMAGED) for row in rows):
        raise SystemExit(1)


_MISSING, _DAMAGED = "missing", "damaged"  # problems of a repository that keep it from being asked


def _problem(name: str, place: str) -> tuple[str, str]:
    """Return what keeps a repository that was built from being asked, and the sentence about it; empty if nothing."""
    from concordance.facts.read import Facts
    from concordance.workflow.store_location import has_store, store_path

    if not os.path.isdir(place):
        return _MISSING, f"missing: {place}"
    if has_store(place):
        try:
            Facts(store_path(place)).close()
        except ConcordanceError as error:
            return _DAMAGED, f"{error.message}; build it: concord workspace build {name}"
    return "", ""


def _status_rows(root: str) -> Iterator[dict[str, object]]:
    """Yield a row for each repository, and one for each thing that does not fit."""
    from concordance.facts.catalogue import Catalogue
    from concordance.query.workspace.versions import satisfies

    repositories = workspace_file.read_repositories(root)
    try:
        catalogue = Catalogue(root)
    except StoreBroken as error:
        for name, place in repositories.items():
            problem, says = _problem(name, place)
            says = says or f"{place}: {error}"
            yield {"repository": name, "path": place, "problem": problem or "not built", "says": says}
        return
    with catalogue:
        counts, dependencies = catalogue.counts(), catalogue.dependencies()
        for name, place in repositories.items():
            packages = sorted(
                {
                    f"{provided.name} {provided.version}".strip()
                    for provided in catalogue.packages(name)
                    if provided.version
                }
            )
            known = {table: rows.get(name, 0) for table, rows in counts.items()}
            problem, says = _problem(name, place)
            problem = problem or ("" if any(known.values()) else "not built, or nothing to share")
            requires = sorted({provider for user, provider, _, _ in dependencies if user == name})
            row = {"repository": name, "path": place, "problem": problem, "packages": packages, "requires": requires}
            says = says or (f"{problem}: {place}" if problem else _summary(packages, requires, known["name"]))
            yield {**row, **known, "says": says}
        for user, provider, wanted, package in dependencies:
            if satisfies(wanted.ecosystem, package.version, wanted.wanted) is False:
                place = f"{wanted.path}:{wanted.line}"
                says = f"wants {wanted.name} {wanted.wanted} ({place}), but {provider} has {package.version}"
                yield {"repository": user, "path": wanted.path, "line": wanted.line, "problem": "version", "says": says}
        for ecosystem, name, providers in catalogue.shared_packages():
            says = f"provides the package {name} ({ecosystem}), and so does {' and '.join(providers[1:])}"
            yield {"repository": providers[0], "problem": "same package", "says": says}


def _summary(packages: list[str], requires: list[str], exported: int) -> str:
    """Return in words what a repository provides, and which others of the workspace it requires."""
    provided = f"provides {', '.join(packages[:4])}{' …' if len(packages) > 4 else ''}" if packages else ""
    exports = f"exports {count_noun(exported, 'name')}"
    return "; ".join(filter(None, (provided, exports, f"requires {', '.join(requires)}" if requires else "")))


command: click.Command = _group
