"""Writes `docs/architecture.md` from the text below and `docs/modules.md` from the modules' docstrings.

The names of functions in the text become links to their files, so a name that no longer exists is found by a test.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "concordance"
EXTENSION = ROOT / "concordance_torch"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
MODULES = ROOT / "docs" / "modules.md"

STAGES = ("base", "collect", "extract", "facts", "link", "passes", "query", "render", "serve", "workflow", "tasks")
NAME = re.compile(rf"`((?:{'|'.join((*STAGES, 'api', 'cli', 'entry'))})(?:\.\w+)+)`")
# `test_docs.py` checks that every dotted name in this text exists.
WALKS = """# Architecture

*`make golden` writes this page from `tests/support/architecture.py`, with a link for each name. [modules.md](modules.md)
lists every module, [glossary.md](glossary.md) explains the terms, [extending.md](extending.md) how to add to the program.*

## The stages

    repository                             a folder, usually a git work tree
        │  collect    list the files; language, category, encoding, history
        ▼
    bytes of a file
        │  extract    parse one file by itself, in parallel, cached by content
        ▼
    FileFacts                              definitions, imports, names, flow, findings, ends of bridges, terms
        │  facts      write and read the store; the only package that contains SQL
        ▼
    store: .concordance/index.db and text/  ◀───┐
        │  link       what each name and import refers to; bridges between languages
        │  passes     analyses of the whole repository: ranks, layers, cycles, tests, public names
        └────────────── rows ───────────────────┘
        │  query      questions → Answer; pages → Block
        ▼
    blocks without formatting
        │  render     addresses, Markdown, HTML, claims, manifest
        ▼
    book (Markdown), site (HTML), or one reply of the server (serve)

`base` holds what all stages share. `workflow` runs the stages: worker processes, incremental updates, watching. `tasks`
holds the commands that are not questions, `api.py` the Python interface and `cli.py` the command line.

The packages are sorted in the order in which the data flows; the arrows show that order. A package may import anything
before it in this list, and nothing after it:

    base → collect → extract → facts → link → passes → query → render → serve → workflow → api → tasks → cli

Three types are the only interfaces between the large parts: `FileFacts` (between the languages and everything else),
`Facts` (between the store and its readers) and `Block` (between the content of a page and its format).
`tests/test_house.py` checks these rules.

## From a file to its page

What `concord build` does with one file `lib/shop.py`. Names are given without the leading `concordance.`.

1. **Start.** `entry.main` removes the current folder from the module path (`base.startup.harden`) and runs `cli.main`,
   which finds `tasks.build.command`. It calls `workflow.builds.write_book`, which runs the steps in
   `workflow.pipeline.Build.run` and then writes the pages.
2. **Collect.** `collect.walk.walk_with_counts` lists the files: `git ls-files`, or the folder where there is no git.
   `collect.path_patterns.select_entries` applies `include` and `exclude`. `workflow.resident.read_last_build`
   reads what the last build stored, and `workflow.changed_files.find_changes` selects the files that differ from it.
3. **Learn.** A C file can only be parsed if the macros that it uses are known, wherever they are defined. So
   `workflow.stages.extract.learn_macros` first collects the macros of the changed C files in worker processes, and
   `extract.cfamily.macros.merge` joins them with those of all other files into one table, which
   `workflow.stages.extract.save_macros` leaves for the workers. If the table has changed, all C files are extracted
   again, most of them from the cache. For our Python file there is nothing to do in this step.
4. **Extract.** In a worker process, `workflow.stages.extract.extract_files` reads the file's bytes
   (`collect.walk.read`); `collect.classify.Classifier.read_text` determines language, category and encoding and decodes
   the text. If these bytes were read before, the facts come from the cache (`facts.cache.Cache.get`). Otherwise
   `extract.engine.extract` calls the language's reader, `extract.languages.python.read`, which returns an
   `extract.reading.draft.Draft`. From this come the facts (`extract.reading.draft.Draft.facts`), the findings of rules
   (`extract.reading.rule_findings.findings`), the ends of bridges (`extract.bridges.find_bridge_ends`), the patterns
   (`extract.patterns.find_patterns`) and the terms (`extract.text.terms.extract_terms`): together one
   `base.model.FileFacts`. `facts.fulltext.file_words.prepare_file` prepares the words for the full-text search.
5. **Store.** The parent process writes the result with `facts.write.StoreWriter.put` and
   `facts.fulltext.index.TextWriter.put`, and into the cache with `facts.cache.Cache.put`.
6. **Check.** `collect.ruff.check` runs ruff on the changed Python files. If the commit has changed, the history is
   stored, which `collect.history.HistoryReader` has been reading from `git log` since before step 4.
7. **Link.** `workflow.stages.link.Linking.link_all` links every file; after an edit `workflow.stages.link.Linking.link_changed`
   links only the files that `link.invalidation.Invalidation.find` returns. For each, `link.linker.Linker.link` resolves
   imports (`link.languages.python.imports`) and names (`link.languages.python.names`).
   `facts.write.StoreWriter.put_links` or `facts.write.StoreWriter.relink` stores the links.
8. **Join and analyse.** `workflow.stages.bridges.run` joins the ends of bridges, `workflow.stages.passes.run` computes
   ranks, layers and the like, and `workflow.stages.public_names.run` finds the names by which users import definitions;
   each has an `update` for later builds. `facts.write.StoreWriter.commit` makes the new store visible, in one
   transaction.
9. **Choose pages.** `workflow.stages.pages.write` opens the store (`facts.read.Facts`) and an index over it
   (`query.index.repository.Index`). `query.index.updates.stale_pages.StalePages.select` selects the pages that read
   something that has changed since they were written.
10. **Write the page.** `query.pages.file.pages` builds the page from blocks; its sections come from
   `query.sections.file_page.sections`. `render.formats.markdown.render` turns the blocks into Markdown and collects
   the source lines that they cite, which `render.claims.encode_claims` stores beside the page.
   `workflow.stages.page_writer.PageWriter.write` renders pages in workers; in each,
   `render.output.page_sink.PageSink.put` writes `lib/shop.py_docs.md` if its content differs, and in the end
   `render.output.page_sink.PageSink.finish` writes the manifest. `workflow.stages.site.publish` writes the files of a
   site with the same writer.

On a server, steps 9 and 10 are replaced by `render.site.files.Site.answer`, which builds the page that is requested.

## From a question to its answer

What happens on `concord define shop.Cart`.

1. `entry.main` and `cli.main` start as above. `cli.Commands.get_command` finds the module `query.commands.define`
   through `base.plugins.load` and turns its `HELP`, `ARGUMENT` and `OPTIONS` into a click command.
2. `workflow.store_location.root_of` finds the repository around the current folder. `api.Repository` brings the store
   up to date with `workflow.store_update.build` (not with `--no-update`), opens it as `facts.read.Facts`, and creates a
   `query.index.repository.Index`, which reads tables only when they are needed.
3. `api.Repository.ask` calls `query.commands.ask`, which fills in the options (`query.answers.page_for`) and calls
   `query.commands.define.answer`.
4. `query.names.resolver.resolve_question` finds out what `shop.Cart` refers to: a position, an id, a public name or a
   qualified name, best match first; if there is nothing, it raises an error that suggests similar names.
5. The command makes one row per definition, with its trust, and `query.answers.paginate` returns the requested part as
   an `query.answers.Answer`.
6. `cli` prints the rows as JSON, or as a table with `workflow.terminal.print_answer`. `concordance.open(…).define(…)`
   returns the same rows, and `serve.http_api` sends them at `/api/define?q=…`.

## From one repository to another

What happens on `concord define flask:src/flask/cli.py:17:8` in a workspace. [workspaces.md](workspaces.md) gives the
reasons.

1. Before, `workflow.stages.catalogue.build` updated the store of each repository and derived its entry in the
   catalogue: `query.workspace.entries.describe_repository` reads the manifests (`query.workspace.manifests.npm` and
   the others), lists the heads of module names (`query.workspace.module_heads.module_heads`), exported names, and
   what files use of others (`query.workspace.entries.uses_in_file`). `facts.catalogue.update_catalogue` wrote it.
2. `query.workspace.repositories.OpenWorkspace` opens the catalogue (`facts.catalogue.Catalogue`) and stores as they
   are needed. `query.workspace.commands.WorkspaceQuestions.ask` finds the repository and the name at the position.
3. If that name comes from an import that leaves the repository,
   `query.workspace.linking.WorkspaceLinks.targets` asks the catalogue which repositories may have the module,
   prefers those that a manifest requires, and lets the linker of each find the file
   (`query.workspace.repositories.OpenRepository.module_files`) and its store the definition.
4. `refs` goes the other way: `query.workspace.linking.WorkspaceLinks.uses` looks up the uses of the name in the
   catalogue, keeps those that lead back to the definition, and opens only the files that have them.

On a server, `serve.workspace_reader.WorkspaceReader` does the same in each reader process.

## From a saved edit to its pages

What `concord watch` does when `lib/shop.py` is saved. The steps are those of a build; this is what makes them short.
[updating.md](updating.md) gives the reasons.

1. **Notice.** `workflow.watch.file_watcher.NotifyingWatcher.changes` collects the paths that the operating system
   reports, until it has been quiet for a moment. `workflow.watch.watch.Watch.run` hands them to
   `workflow.watch.watch.CurrentBook.update`, and `collect.walk.update_listing` lists these paths again instead of all.
2. **Compare with the last build.** Its ledger, its macros and the linker's tables are still in memory
   (`workflow.resident.StoreState`), if the store is the one that this process wrote.
3. **Extract** this one file, in a forked worker that is ready at once. When `facts.write.StoreWriter.put` replaces the
   file's rows, it compares them with the new ones and records what changed as *aspects*
   (`facts.updates.delta.Aspect`): the text, the names, what other pages say of its symbols.
4. **Link.** `link.interface_digest.FileInterface` describes what other files can see of a file. If the edit changed
   only the body of a function, the interface is the same, and only this file is linked. Otherwise
   `link.invalidation.Invalidation.find` adds the files that mention a name that now leads elsewhere, and
   `facts.write.StoreWriter.relink` compares their links with the old ones, again by aspect.
5. **Join and analyse.** `workflow.stages.bridges.update`, `workflow.stages.passes.update` and
   `workflow.stages.public_names.update` do nothing unless something that they read has changed.
6. **Choose pages.** `query.index.updates.refresh.refresh_index` brings the index of the last update up to date. While
   a page was made, each access to the store was recorded as a *slot*, so
   `query.index.updates.stale_pages.StalePages.select` only has to look up which pages read a slot that changed: that of
   the file, those of the folders above it, and those that show what changed.
7. **Write.** A few pages are rendered in the process itself, and `render.output.page_sink.PageSink.put` leaves a file
   alone whose content is the same. The result equals that of a clean build, byte for byte.
"""


def architecture_page() -> str:
    """Return the text above, with a link from every name to the file that defines it."""
    return NAME.sub(lambda found: f"[`{found[1]}`](../{_file_of(found[1])})" if _file_of(found[1]) else found[0], WALKS)


def _file_of(name: str) -> str:
    """Return the file of the module that a dotted name begins with, or "" if there is none."""
    parts = ["concordance", *name.split(".")]
    for length in range(len(parts), 1, -1):
        for path in ("/".join(parts[:length]) + ".py", "/".join([*parts[:length], "__init__.py"])):
            if (ROOT / path).exists():
                return path
    return ""


def modules_page() -> str:
    """Return every package, and in it every module with the first line of its docstring."""
    opening = "# Modules\n\n*`make golden` writes this page from the modules' docstrings. [architecture.md](architecture.md) shows how\nthey work together.*\n"
    parts = [opening, "## Entry points\n", *map(_module, sorted(PACKAGE.glob("*.py")))]
    for stage in STAGES:
        parts += _folder(PACKAGE / stage, 2)
    parts += _folder(EXTENSION, 2)
    return "\n".join(parts) + "\n"


def _folder(folder: Path, level: int) -> list[str]:
    name = folder.relative_to(PACKAGE if folder.is_relative_to(PACKAGE) else ROOT)
    parts = [f"\n{'#' * level} {name}\n", f"{_docstring(folder / '__init__.py')}\n"]
    parts += map(_module, sorted(path for path in folder.glob("*.py") if path.name != "__init__.py"))
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        parts += _folder(inner, min(level + 1, 4))
    return parts


def _module(path: Path) -> str:
    return f"- [`{path.stem}`](../{path.relative_to(ROOT)}): {_docstring(path).splitlines()[0]}"


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text())) or ""
