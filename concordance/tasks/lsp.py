"""`concord lsp`: answer an editor over the Language Server Protocol."""

from __future__ import annotations

import click

from concordance.workflow.watch import service


@click.command("lsp")
@service.with_service_options
def command(repo: str | None, no_update: bool, store: str | None, yes: bool) -> None:
    """Answer an editor on standard input and output: definitions, references, hover, hierarchies, code lenses.

    Editors start it themselves (see docs/editors.md). The store is kept up to date while it runs.

    \b
    concord lsp
    concord lsp ~/src/pytorch
    """
    with service.importing_extra("lsp"):
        from concordance.serve import lsp_server
    from concordance.workflow.watch.background import current_index

    root = service.find_repository(repo, store, yes)
    with current_index(root, not no_update, 0.0, service.log) as index:
        lsp_server.make_server(root, index).start_io()
