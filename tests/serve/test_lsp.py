"""`concord lsp`: a session of a real client over standard input and output, on the sample repository."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import program
from tests.support.program import TREE, build

lsp: Any = pytest.importorskip("lsprotocol.types")
pytest_lsp: Any = pytest.importorskip("pytest_lsp")

from concordance.serve.lsp_server import LineMap  # noqa: E402

Found = dict[str, Any]
ACCOUNTS = {  # a class hierarchy over four C++ files; a forward declaration stands before each definition
    "native/accounts/forward.h": "#pragma once\nnamespace shop {\nclass Account;\nclass Savings;\n}\n",
    "native/accounts/account.h": '#pragma once\n#include "forward.h"\nnamespace shop {\nclass Account;\nclass Account {\n public:\n  Account();\n  virtual int balance() const;\n};\n}\n',
    "native/accounts/savings.h": '#pragma once\n#include "account.h"\nnamespace shop {\nclass Savings : public Account {\n public:\n  int balance() const override;\n};\nclass Young final : public Savings {};\n}\n',
    "native/accounts/savings.cpp": '#include "savings.h"\nnamespace shop {\nint Account::balance() const { return 0; }\nAccount::Account() {}\nint Savings::balance() const { return 1; }\n}\n',
}
TALLY = {"abacus/tally.py": "import torch\n\n\ndef count(numbers):\n    return torch.tally(numbers)\n"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample repository, with a store."""
    folder = tmp_path_factory.mktemp("sample") / "repo"
    shutil.copytree(TREE / "tests" / "sample", folder)
    program.sample(folder, ACCOUNTS | TALLY)
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
        """Return the first position of a name."""
        before = self.text[: self.text.index(name)]
        return self.document, lsp.Position(before.count("\n"), len(before.rpartition("\n")[2]))

    def change(self, text: str) -> None:
        """Edit the document without saving it."""
        self.text = text
        version = lsp.VersionedTextDocumentIdentifier(version=2, uri=self.uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(version, [whole]))


async def talk(root: Path, found: Found) -> None:
    client = pytest_lsp.make_test_lsp_client()  # it also warns of answers that an editor could not take
    await client.start_io(program.CONCORD, "lsp", str(root), "--no-update", env={**os.environ, **program.environment()})
    can = pytest_lsp.client_capabilities("visual_studio_code")
    await client.initialize_session(lsp.InitializeParams(can, root_uri=root.as_uri()))
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
    found["resolved again"] = await client.code_lens_resolve_async(lenses[0])
    found["links"] = await client.text_document_document_link_async(lsp.DocumentLinkParams(test.document))
    items = await client.text_document_prepare_call_hierarchy_async(lsp.CallHierarchyPrepareParams(*ledger.at("add(")))
    found["called"] = items[0].name
    found["incoming"] = await client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(items[0]))
    found["outgoing"] = await client.call_hierarchy_outgoing_calls_async(lsp.CallHierarchyOutgoingCallsParams(items[0]))
    types = await client.text_document_prepare_type_hierarchy_async(lsp.TypeHierarchyPrepareParams(*name))
    found["type"] = types[0].name
    found["below"] = await client.type_hierarchy_subtypes_async(lsp.TypeHierarchySubtypesParams(types[0]))
    found["above"] = await client.type_hierarchy_supertypes_async(lsp.TypeHierarchySupertypesParams(types[0]))
    account = Editor(client, root, "native/accounts/account.h")
    types = await client.text_document_prepare_type_hierarchy_async(lsp.TypeHierarchyPrepareParams(*account.at("Account")))
    found["cpp below"] = await client.type_hierarchy_subtypes_async(lsp.TypeHierarchySubtypesParams(types[0]))
    middle = lsp.TypeHierarchySubtypesParams(found["cpp below"][0]), lsp.TypeHierarchySupertypesParams(found["cpp below"][0])
    found["cpp around"] = await client.type_hierarchy_subtypes_async(middle[0]), await client.type_hierarchy_supertypes_async(middle[1])
    for path, name in (("forward.h", "Savings"), ("account.h", "Account()"), ("savings.cpp", "Account()")):
        where = Editor(client, root, f"native/accounts/{path}").at(name)
        types = await client.text_document_prepare_type_hierarchy_async(lsp.TypeHierarchyPrepareParams(*where))
        found.setdefault("cpp types", []).extend(types or [])
    at = account.at("balance")
    found["cpp definition"] = await client.text_document_definition_async(lsp.DefinitionParams(*at))
    found["cpp declaration"] = await client.text_document_declaration_async(lsp.DeclarationParams(*at))
    found["cpp implementation"] = await client.text_document_implementation_async(lsp.ImplementationParams(*at))
    tally = Editor(client, root, "abacus/tally.py")
    found["operator"] = await client.text_document_definition_async(lsp.DefinitionParams(*tally.at("tally(")))
    table = Editor(client, root, "native/functions.yaml")
    found["kernels"] = await client.text_document_implementation_async(lsp.ImplementationParams(*table.at("tally")))
    ledger.change("# a line\n# another\n" + ledger.text)
    test.change("# unsaved\n" + test.text)
    found["unsaved"] = await client.text_document_definition_async(lsp.DefinitionParams(*test.at("Ledger")))
    test.change("x = abacus.Ledger\n" + test.text)
    edited = lsp.Position(0, 13)
    found["edited"] = await client.text_document_definition_async(lsp.DefinitionParams(test.document, edited))
    found["members"] = []
    for written in ("self.add", "ledger.add", "field.add"):
        ledger.change(ledger.text.replace("    @property", f"    def more(self):\n        x = {written}(1)\n\n    @property", 1))
        document, at = ledger.at(written)
        at = lsp.Position(at.line, at.character + len(written) - 1)
        found["members"].append(await client.text_document_definition_async(lsp.DefinitionParams(document, at)))
    outside = lsp.TextDocumentIdentifier((root.parent / "elsewhere.py").as_uri())
    found["outside"] = await client.text_document_definition_async(lsp.DefinitionParams(outside, edited))
    found["unsaved links"] = await client.text_document_document_link_async(lsp.DocumentLinkParams(test.document))
    await client.shutdown_session()


@pytest.fixture(scope="module")
def session(root: Path) -> Found:
    """The replies of a whole session."""
    found: Found = {}
    asyncio.run(asyncio.wait_for(talk(root, found), 200))
    return found


def lines(found: list[Any]) -> list[tuple[str, int]]:
    return [(one.uri.rpartition("/repo/")[2], one.range.start.line + 1) for one in found]


def lines_of(ranges: list[Any]) -> list[int]:
    return [one.start.line + 1 for one in ranges]


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


def transcript(found: Found) -> str:
    """The session that docs/editors.md shows."""

    def places(name: str) -> list[str]:
        return [f"  ← {path}:{line}" for path, line in lines(found[name])]

    calls = [f"  ← {one.from_.name}, line {', '.join(map(str, lines_of(one.from_ranges)))}" for one in found["incoming"]]
    told = [
        "→ textDocument/definition of `Ledger` in tests/test_ledger.py", *places("definition"),
        "→ textDocument/hover of the same", *(f"  ← {line}".rstrip() for line in found["hover"].split("\n")),
        "→ callHierarchy/incomingCalls of `Ledger.add`", *calls,
        "→ typeHierarchy/subtypes of `shop::Account`, a class in C++", *(f"  ← {one.name}" for one in found["cpp below"]),
        "→ textDocument/definition of `torch.tally` in Python", *places("operator"),
        "→ textDocument/implementation of that entry", *places("kernels"),
    ]  # fmt: skip
    return "\n".join(told) + "\n"


def test_the_documentation_shows_this_session(session: Found) -> None:
    assert f"```text\n{transcript(session)}```\n" in (TREE / "docs" / "editors.md").read_text(), transcript(session)


def test_symbols_and_links(session: Found) -> None:
    outline = {one.name: [child.name for child in one.children] for one in session["symbols"]}
    assert "add" in outline["Ledger"]
    places = {one.name: one.location.range for one in session["workspace"]}
    assert (places["abacus.Ledger"].start.character, places["abacus.Ledger"].end.character) == (6, 12)  # after `class`
    assert [one.target.rpartition("/repo/")[2] for one in session["links"]]


def test_lenses_count_users_and_run_tests(session: Found) -> None:
    assert any(title.startswith("used by ") for title in session["lenses"])
    runs = [argument for command in session["resolved"] for argument in command.arguments or ()]
    assert any("test_ledger.py" in run for run in runs)
    assert session["resolved again"].command.title == session["lenses"][0]


def test_it_ends_when_the_editor_says_so(root: Path) -> None:
    messages = [{"id": 1, "method": "initialize", "params": {"capabilities": {}}}, {"id": 2, "method": "shutdown"}, {"method": "exit"}]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    asked = "".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies)
    environment = {**os.environ, **program.environment()}
    done = subprocess.run(
        [program.CONCORD, "lsp", str(root), "--no-update"], input=asked, capture_output=True, text=True, env=environment, timeout=100
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_hierarchies(session: Found) -> None:
    assert session["called"].endswith("add")
    calls = {one.from_.name: lines_of(one.from_ranges) for one in session["incoming"]}
    assert calls == {"test_adds": [6], "TestOverflow.test_raises": [12]}
    assert {one.to.name: lines_of(one.from_ranges) for one in session["outgoing"]} == {"Overflow": [54]}
    assert session["type"] == "Ledger"
    assert not session["below"]
    assert not session["above"]


def test_hierarchies_in_cpp(session: Found) -> None:
    assert [one.name for one in session["cpp below"]] == ["shop::Savings"]
    definition = ("native/accounts/account.h", 5)  # of the constructor's class, too
    assert lines(session["cpp types"]) == [("native/accounts/savings.h", 4), definition, definition]
    below, above = session["cpp around"]
    assert [one.name for one in below] == ["shop::Young"]
    assert [one.name for one in above] == ["shop::Account"]
    assert lines(session["cpp definition"])[0] == ("native/accounts/savings.cpp", 3)
    assert lines(session["cpp declaration"]) == [("native/accounts/account.h", 8)]
    assert ("native/accounts/savings.cpp", 5) in lines(session["cpp implementation"])


def test_definitions_cross_languages(root: Path, session: Found) -> None:
    """From Python to the table of operators, and from there to the kernels."""
    assert lines(session["operator"])[0] == ("native/functions.yaml", 2)
    assert {path for path, _ in lines(session["kernels"])} == {"native/src/module.cpp", "native/src/sum.cu"}


def test_unsaved_buffers_count(session: Found) -> None:
    path, line = lines(session["definition"])[0]
    assert lines(session["unsaved"])[0] == (path, line + 2)  # two lines were added above it, and not saved
    assert lines(session["edited"])[0] == (path, line + 2)  # found by its spelling
    assert not session["outside"]
    add = ("abacus/ledger.py", 38 + 2)
    by_class, by_name, foreign = map(lines, session["members"])
    assert by_class == [(add[0], add[1])]
    assert by_name == by_class
    assert not foreign  # `field` is imported from elsewhere
    before, after = ([(one.range.start.line, one.range.end.character, one.target) for one in session[name]] for name in ("links", "unsaved links"))
    assert after == [(line + 2, end, target) for line, end, target in before]


def test_lines_are_translated() -> None:
    changed = LineMap(["a", "b", "c"], ["a", "new", "B", "c"])
    assert [changed.to_index(line) for line in (1, 2, 3, 4)] == [1, 0, 0, 3]
    assert [changed.to_buffer(line) for line in (1, 2, 3)] == [1, 1, 4]
