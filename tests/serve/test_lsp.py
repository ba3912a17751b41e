"""`concord lsp`: a session of a real client over standard input and output, on the sample repository."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import program
from tests.support.program import TREE, build

lsp: Any = pytest.importorskip("lsprotocol.types")
clients: Any = pytest.importorskip("pygls.lsp.client")

from concordance.serve.lsp_server import LineMap  # noqa: E402

Found = dict[str, Any]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample repository, with a store."""
    folder = tmp_path_factory.mktemp("sample") / "repo"
    shutil.copytree(TREE / "tests" / "sample", folder)
    program.sample(folder, {})
    build(folder)
    return folder.resolve()


class Editor:
    """A document that is open in an editor."""

    def __init__(self, client: Any, root: Path, path: str) -> None:
        self.client, self.uri = client, (root / path).as_uri()
        self.text = (root / path).read_text()
        self.document = lsp.TextDocumentIdentifier(self.uri)
        item = lsp.TextDocumentItem(self.uri, "python", 1, self.text)
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def at(self, name: str) -> tuple[Any, Any]:
        """Where a name is first."""
        before = self.text[: self.text.index(name)]
        return self.document, lsp.Position(before.count("\n"), len(before.rpartition("\n")[2]))

    def change(self, text: str) -> None:
        """Edits the document without saving it."""
        self.text = text
        version = lsp.VersionedTextDocumentIdentifier(version=2, uri=self.uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(version, [whole]))


async def talk(root: Path, found: Found) -> None:
    client = clients.LanguageClient("tests", "1")
    await client.start_io(program.CONCORD, "lsp", str(root), "--no-update", env={**os.environ, **program.environment()})
    started = lsp.InitializeParams(lsp.ClientCapabilities(), root_uri=root.as_uri())
    await client.initialize_async(started)
    client.initialized(lsp.InitializedParams())
    test = Editor(client, root, "tests/test_ledger.py")
    ledger = Editor(client, root, "abacus/ledger.py")
    name = test.at("Ledger")
    found["definition"] = await client.text_document_definition_async(lsp.DefinitionParams(*name))
    found["declaration"] = await client.text_document_declaration_async(lsp.DeclarationParams(*name))
    found["implementation"] = await client.text_document_implementation_async(lsp.ImplementationParams(*name))
    found["hover"] = (await client.text_document_hover_async(lsp.HoverParams(*name))).contents.value
    context = lsp.ReferenceContext(include_declaration=True)
    found["references"] = await client.text_document_references_async(lsp.ReferenceParams(context, *name))
    found["highlights"] = await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(*name))
    found["symbols"] = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(ledger.document))
    found["workspace"] = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("Ledger"))
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(ledger.document))
    found["lenses"] = [lens.command.title for lens in lenses if lens.command]
    found["resolved"] = [(await client.code_lens_resolve_async(lens)).command for lens in lenses if not lens.command]
    found["links"] = await client.text_document_document_link_async(lsp.DocumentLinkParams(test.document))
    items = await client.text_document_prepare_call_hierarchy_async(lsp.CallHierarchyPrepareParams(*ledger.at("add(")))
    found["called"] = items[0].name
    found["incoming"] = await client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(items[0]))
    found["outgoing"] = await client.call_hierarchy_outgoing_calls_async(lsp.CallHierarchyOutgoingCallsParams(items[0]))
    types = await client.text_document_prepare_type_hierarchy_async(lsp.TypeHierarchyPrepareParams(*name))
    found["type"] = types[0].name
    found["below"] = await client.type_hierarchy_subtypes_async(lsp.TypeHierarchySubtypesParams(types[0]))
    found["above"] = await client.type_hierarchy_supertypes_async(lsp.TypeHierarchySupertypesParams(types[0]))
    ledger.change("# a line\n# another\n" + ledger.text)
    test.change("# unsaved\n" + test.text)
    found["unsaved"] = await client.text_document_definition_async(lsp.DefinitionParams(*test.at("Ledger")))
    test.change("x = abacus.Ledger\n" + test.text)
    edited = lsp.Position(0, 13)
    found["edited"] = await client.text_document_definition_async(lsp.DefinitionParams(test.document, edited))
    outside = lsp.TextDocumentIdentifier((root.parent / "elsewhere.py").as_uri())
    found["outside"] = await client.text_document_definition_async(lsp.DefinitionParams(outside, edited))
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


@pytest.fixture(scope="module")
def session(root: Path) -> Found:
    """What a whole session answered."""
    found: Found = {}
    asyncio.run(asyncio.wait_for(talk(root, found), 200))
    return found


def lines(found: list[Any]) -> list[tuple[str, int]]:
    return [(one.uri.rpartition("/repo/")[2], one.range.start.line + 1) for one in found]


def defined(root: Path, name: str) -> tuple[str, int]:
    row = program.ask("define", name, "--no-update", cwd=root)[0]
    return row["path"], row["line"]


def test_places_equal_those_of_the_terminal(root: Path, session: Found) -> None:
    where = defined(root, "abacus.Ledger")
    assert lines(session["definition"])[0] == where
    assert lines(session["declaration"])[0] == where
    assert where in lines(session["implementation"])
    uses = program.ask("refs", "abacus.Ledger", "--no-update", cwd=root)
    assert sorted(lines(session["references"])) == sorted([where, *((row["path"], row["line"]) for row in uses)])
    assert session["definition"][0].range.end.character - session["definition"][0].range.start.character == len("Ledger")
    assert len(session["highlights"]) == sum(row["path"] == "tests/test_ledger.py" for row in uses)


def test_hover_has_signature_documentation_tests_and_trust(session: Found) -> None:
    for part in ("class Ledger", "A list of entries", "via_import", "test_adds"):
        assert part in session["hover"]


def test_symbols_and_links(session: Found) -> None:
    outline = {one.name: [child.name for child in one.children] for one in session["symbols"]}
    assert "add" in outline["Ledger"]
    assert any(one.name == "abacus.Ledger" for one in session["workspace"])
    assert [one.target.rpartition("/repo/")[2] for one in session["links"]]


def test_lenses_count_users_and_run_tests(session: Found) -> None:
    assert any(title.startswith("used by ") for title in session["lenses"])
    runs = [argument for command in session["resolved"] for argument in command.arguments or ()]
    assert any("test_ledger.py" in run for run in runs)


def test_hierarchies(session: Found) -> None:
    assert session["called"].endswith("add")
    assert any("test_adds" in one.from_.name for one in session["incoming"])
    assert session["type"] == "Ledger"
    assert not session["below"]
    assert not session["above"]


def test_unsaved_buffers_count(session: Found) -> None:
    path, line = lines(session["definition"])[0]
    assert lines(session["unsaved"])[0] == (path, line + 2)  # two lines were added above it, and not saved
    assert lines(session["edited"])[0] == (path, line + 2)  # found by its spelling
    assert not session["outside"]


def test_lines_are_translated() -> None:
    changed = LineMap(["a", "b", "c"], ["a", "new", "B", "c"])
    assert [changed.to_index(line) for line in (1, 2, 3, 4)] == [1, 0, 0, 3]
    assert [changed.to_buffer(line) for line in (1, 2, 3)] == [1, 1, 4]
