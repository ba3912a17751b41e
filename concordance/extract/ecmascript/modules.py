"""Modules of JavaScript and TypeScript: imports and exports.

In: a draft with a file's definitions, and the captured nodes. Out: imports of every form (`import`, `export … from`,
`require`, `import()`), the names that the file exports, and the local names of these.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.kinds import WHOLE_MODULE
from concordance.base.model import Kind, Role
from concordance.extract.reading import trees
from concordance.extract.reading.draft import Definition, Draft


def _unquoted(node: Node | None) -> str:
    return trees.text(node)[1:-1] if node is not None else ""


def _word(node: Node | None) -> str:
    """Return a name without its quotes, if it has any."""
    words = trees.text(node) if node is not None else ""
    return words[1:-1] if words[:1] in ("'", '"') else words


def note_imports(draft: Draft, captures: dict[str, list[Node]]) -> None:
    """Record everything that a file imports."""
    aliases = captures.get("alias", ())  # names under which others know an export; they mean nothing in this file
    draft.add_names(((node.start_byte, node.end_byte) for node in aliases), Role.MENTION)
    for node in captures.get("import.statement", ()):
        _note_import(draft, node)
    for node in captures.get("export", ()):
        module = node.child_by_field_name("source")
        if module is not None:
            _note_passed_on(draft, node, _unquoted(module))
    bound = set()
    for node in captures.get("require.declarator", ()):
        bound.add(_note_required(draft, node))
    for node in captures.get("require", ()):
        if node.start_byte not in bound:
            around = node.parent
            passed_on = around is not None and _is_exports(around.child_by_field_name("left"))
            name, form = ("*", "export") if passed_on else ("", "require")
            draft.add_import(node.start_byte, _required(node), name=name, form=form)
    for node in captures.get("dynamic", ()):
        draft.add_import(node.start_byte, _unquoted(node), form="dynamic")


def _note_import(draft: Draft, node: Node) -> None:
    module = node.child_by_field_name("source")
    form = "type" if any(c.type in ("type", "typeof") for c in node.children) else ""
    clause = next((c for c in node.named_children if c.type in ("import_clause", "import_require_clause")), None)
    if clause is not None and clause.type == "import_require_clause":
        name = next((c for c in clause.named_children if c.type == "identifier"), None)
        path = _unquoted(clause.child_by_field_name("source"))
        draft.add_import(node.start_byte, path, alias=_word(name), form="require")
    elif clause is None:
        if module is not None:
            draft.add_import(node.start_byte, _unquoted(module), form=form)
    else:
        for child in clause.named_children:
            _note_clause(draft, child, _unquoted(module), form)


def _note_clause(draft: Draft, child: Node, module: str, form: str) -> None:
    if child.type == "identifier":
        draft.add_import(child.start_byte, module, name="default", alias=trees.text(child), form=form)
    elif child.type == "namespace_import":
        alias = next((c for c in child.named_children if c.type == "identifier"), None)
        draft.add_import(child.start_byte, module, alias=_word(alias), form=form)
    elif child.type == "named_imports":
        for node in child.named_children:
            if node.type == "import_specifier":
                name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
                own = "type" if any(c.type in ("type", "typeof") for c in node.children) else form
                draft.add_import(node.start_byte, module, name=_word(name), alias=_word(alias), form=own)


def _note_passed_on(draft: Draft, node: Node, module: str) -> None:
    clause = next((c for c in node.named_children if c.type in ("export_clause", "namespace_export")), None)
    if clause is None:
        draft.add_import(node.start_byte, module, name="*", form="export")
    elif clause.type == "namespace_export":
        alias = clause.named_children[0] if clause.named_child_count else None
        draft.add_import(clause.start_byte, module, alias=_word(alias), form="export")
    else:
        for child in clause.named_children:
            if child.type == "export_specifier":
                name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
                draft.add_import(child.start_byte, module, name=_word(name), alias=_word(alias), form="export")
                # Doing this with a query on the source after each specifier would be quadratic in their number.
                if name is not None and name.type == "identifier":
                    draft.add_names([(name.start_byte, name.end_byte)], Role.IMPORT)
                    draft.members.add(name.start_byte)


def _required(call: Node) -> str:
    arguments = call.child_by_field_name("arguments")
    return _unquoted(arguments.named_children[0]) if arguments is not None and arguments.named_child_count else ""


def _note_required(draft: Draft, node: Node) -> int:
    """Record `const … = require(…)`; return where the call is."""
    target, call = node.child_by_field_name("name"), node.child_by_field_name("value")
    member = ""
    if call is not None and call.type == "member_expression":
        member = _word(call.child_by_field_name("property"))
        call = call.child_by_field_name("object")
    if target is None or call is None:
        return -1
    module = _required(call)
    if target.type == "identifier":
        draft.add_import(target.start_byte, module, name=member, alias=trees.text(target), form="require")
    for child in target.named_children if target.type == "object_pattern" else ():
        inner = child
        if child.type == "object_assignment_pattern":
            inner = child.child_by_field_name("left") or child
        if inner.type == "shorthand_property_identifier_pattern":
            draft.add_import(child.start_byte, module, name=trees.text(inner), form="require")
        elif inner.type == "pair_pattern":
            name, alias = inner.child_by_field_name("key"), inner.child_by_field_name("value")
            draft.add_import(child.start_byte, module, name=_word(name), alias=_word(alias), form="require")
    if target.type == "array_pattern" or (target.type == "object_pattern" and not target.named_child_count):
        draft.add_import(target.start_byte, module, form="require")
    return call.start_byte


def note_exports(draft: Draft, captures: dict[str, list[Node]]) -> frozenset[str] | None:
    """Record what a file exports; return the local names of the exports, or None if there are none."""
    starts: dict[int, list[Definition]] = {}
    for d in draft.definitions:
        starts.setdefault(d.start, []).append(d)
    exported: dict[str, None] = {}
    local: dict[str, None] = {}
    spaces = sorted((d.start, d.end) for d in draft.definitions if d.kind == Kind.NAMESPACE)
    reached = 0
    for node in captures.get("export", ()):
        while spaces and spaces[0][0] < node.start_byte:
            reached = max(reached, spaces.pop(0)[1])
        if node.start_byte < reached:  # exports of a namespace are not exports of the file
            _note_export(node, starts, {}, {})
        else:
            _note_export(node, starts, exported, local)
    for node in captures.get("export.name", ()):
        exported[trees.text(node)] = local[trees.text(node)] = None
    common = [node for node in captures.get("object", ()) if _note_object(node, starts, exported, local)]
    assigned = [d.name for d in draft.definitions if not d.occurs and d.signature.startswith(WHOLE_MODULE)]
    local.update(dict.fromkeys(assigned))
    if b"exports" in draft.source.data:
        local.update(dict.fromkeys(name for name in _exported_names(draft.root) if name != "exports"))
    if not (exported or local or common or "export" in captures):
        return None
    draft.exports = tuple(exported)
    return frozenset(local)


def default_exports(draft: Draft, captures: dict[str, list[Node]]) -> list[tuple[str, Node]]:
    """Return the names of the file that are its default export, and those of what `module.exports` is."""
    defaults = [("default", node) for node in captures.get("value.default", ())]
    defaults += [(WHOLE_MODULE, node) for node in captures.get("value.whole", ())]
    chains = list(_export_chains(draft.root)) if b"exports" in draft.source.data else []
    if len(chains) == 1:  # else it depends on what runs
        *targets, value = chains[0]
        names = [node for node in (value, *targets) if node.type == "identifier"]
        places = {definition.at for definition in draft.definitions}
        written = [node.child_by_field_name("property") for node in targets]
        names += [node for node in written if node is not None and node.start_byte in places]
        defaults += [(WHOLE_MODULE, node) for node in names]
    return defaults


def _exported_names(root: Node | None) -> Iterator[str]:
    """Yield the names of what `module.exports` is: those assigned to it, and `a` in `var a = module.exports = …`."""
    for chain in _export_chains(root):
        yield from (trees.text(node) for node in chain if node.type == "identifier")


def _export_chains(root: Node | None) -> Iterator[list[Node]]:
    """Yield what each statement assigns `module.exports` to and from, in the order of the text."""
    for statement in root.named_children if root is not None else ():
        values: list[tuple[Node | None, Node | None]] = []
        if statement.type == "expression_statement":
            values = [(None, statement.named_children[0] if statement.named_child_count else None)]
        elif statement.type in ("variable_declaration", "lexical_declaration"):
            rows = [child for child in statement.named_children if child.type == "variable_declarator"]
            values = [(row.child_by_field_name("name"), row.child_by_field_name("value")) for row in rows]
        for name, assigned in values:
            nodes, value = [name], assigned
            while value is not None and value.type == "assignment_expression":
                nodes.append(value.child_by_field_name("left"))
                value = value.child_by_field_name("right")
            if any(map(_is_exports, nodes)):
                yield [node for node in (*nodes, value) if node is not None]


def _is_exports(node: Node | None) -> bool:
    return node is not None and "".join(trees.text(node).split()) in ("module.exports", "exports")


def _note_export(
    node: Node, starts: dict[int, list[Definition]], exported: dict[str, None], local: dict[str, None]
) -> None:
    default = any(c.type == "default" for c in node.children)
    passed_on = node.child_by_field_name("source") is not None
    given = node.child_by_field_name("declaration") or node.child_by_field_name("value")
    if default:
        exported["default"] = local["default"] = None
        if given is not None and given.type == "identifier":
            local[trees.text(given)] = None
    decorators = tuple(trees.one_line(trees.text(c)) for c in node.children if c.type == "decorator")
    for d in starts.get(given.start_byte, ()) if given is not None else ():
        if d.kind in (Kind.FIELD, Kind.METHOD):
            continue
        d.start = node.start_byte
        d.modifiers = (*decorators, "export", *(("default",) if default else ()), *d.modifiers)
        local[d.within[0] if d.within else d.name] = None
        if not default:
            exported[d.name] = None
    if given is not None and given.type.endswith(("lexical_declaration", "variable_declaration")):
        _note_declared(given, exported, local)
    for clause in node.named_children:
        if clause.type == "identifier":  # export = name
            local[trees.text(clause)] = None
        elif clause.type == "namespace_export" and clause.named_child_count:
            exported[_word(clause.named_children[0])] = None
        for specifier in clause.named_children if clause.type == "export_clause" else ():
            name, alias = _word(specifier.child_by_field_name("name")), _word(specifier.child_by_field_name("alias"))
            if specifier.type == "export_specifier":
                exported[alias or name] = None
                if not passed_on:
                    local[name] = None


def _note_declared(declaration: Node, exported: dict[str, None], local: dict[str, None]) -> None:
    """Record the names of `export const a = 1, { b, c: [d] } = …`."""
    pending = [
        c.child_by_field_name("name") for c in reversed(declaration.named_children) if c.type == "variable_declarator"
    ]
    while pending:
        node = pending.pop()
        if node is None:
            continue
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            exported[trees.text(node)] = local[trees.text(node)] = None
        elif node.type == "pair_pattern":
            pending.append(node.child_by_field_name("value"))
        elif node.type in ("assignment_pattern", "object_assignment_pattern"):
            pending.append(node.child_by_field_name("left"))
        else:
            pending.extend(reversed(node.named_children))


def _note_object(
    node: Node, starts: dict[int, list[Definition]], exported: dict[str, None], local: dict[str, None]
) -> bool:
    """Handle `module.exports = {…}`, which exports its keys, and `Thing.prototype = {…}`, which gives Thing members."""
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or value is None:
        return False
    path = "".join(trees.text(left).split())
    common = path in ("module.exports", "exports")
    for child in value.named_children:
        key = child.child_by_field_name("key") or child.child_by_field_name("name")
        for d in starts.get(child.start_byte, ()):
            if not common:
                d.within = tuple(part for part in path.split(".") if part != "prototype")
            elif d.kind == Kind.METHOD:
                d.kind = Kind.FUNCTION
        if not common:
            continue
        if child.type == "shorthand_property_identifier":
            exported[trees.text(child)] = local[trees.text(child)] = None
        elif key is not None:
            exported[_word(key)] = local[_word(key)] = None
            aliased = child.child_by_field_name("value")
            if aliased is not None and aliased.type == "identifier":
                local[trees.text(aliased)] = None
    return common
