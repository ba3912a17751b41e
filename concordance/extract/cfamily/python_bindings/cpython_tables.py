"""CPython's C API: method, slot and type tables in a file, and calls that add objects to modules.

In: the tokens of a file, and the modules and types that its variables hold. Out: `BridgeEnd`s: a table row `binds` a
name to a function in that table; a table is `used` by a type, a module or another table; `type` and `module` ends give
the Python names of types and modules. The linker derives full names by following these uses across files.
"""

from __future__ import annotations

from collections.abc import Iterator

from concordance.extract.bridges import BridgeEnd
from concordance.extract.cfamily.python_bindings.bound_objects import BoundObject, BoundObjects
from concordance.extract.cfamily.python_bindings.pybind_chains import pointed_function, qualified_name
from concordance.extract.cfamily.tokens import TokenRange, Tokens
from concordance.extract.reading.draft import Definition

MODULE = ("m_base", "m_name", "m_doc", "m_size", "m_methods", "m_slots")
TYPE = (
    "ob_base", "tp_name", "tp_basicsize", "tp_itemsize", "tp_dealloc", "tp_print", "tp_getattr",
    "tp_setattr", "tp_as_async",
    "tp_repr", "tp_as_number", "tp_as_sequence", "tp_as_mapping", "tp_hash", "tp_call", "tp_str", "tp_getattro",
    "tp_setattro", "tp_as_buffer", "tp_flags", "tp_doc", "tp_traverse", "tp_clear", "tp_richcompare",
    "tp_weaklistoffset",
    "tp_iter", "tp_iternext", "tp_methods", "tp_members", "tp_getset", "tp_base", "tp_dict", "tp_descr_get",
    "tp_descr_set",
    "tp_dictoffset", "tp_init", "tp_alloc", "tp_new", "tp_free", "tp_is_gc",
)  # fmt: skip
SPEC = ("name", "basicsize", "itemsize", "flags", "slots")
SEQUENCE_DESC = ("name", "doc", "fields", "n_in_sequence")
NUMBER = (
    "nb_add", "nb_subtract", "nb_multiply", "nb_remainder", "nb_divmod", "nb_power", "nb_negative", "nb_positive",
    "nb_absolute", "nb_bool", "nb_invert", "nb_lshift", "nb_rshift", "nb_and", "nb_xor", "nb_or", "nb_int",
    "nb_reserved",
    "nb_float", "nb_inplace_add", "nb_inplace_subtract", "nb_inplace_multiply", "nb_inplace_remainder",
    "nb_inplace_power",
    "nb_inplace_lshift", "nb_inplace_rshift", "nb_inplace_and", "nb_inplace_xor", "nb_inplace_or", "nb_floor_divide",
    "nb_true_divide", "nb_inplace_floor_divide", "nb_inplace_true_divide", "nb_index", "nb_matrix_multiply",
    "nb_inplace_matrix_multiply",
)  # fmt: skip
SEQUENCE = (
    "sq_length", "sq_concat", "sq_repeat", "sq_item", "was_sq_slice", "sq_ass_item", "was_sq_ass_slice",
    "sq_contains",
    "sq_inplace_concat", "sq_inplace_repeat",
)  # fmt: skip
MAPPING = ("mp_length", "mp_subscript", "mp_ass_subscript")
ASYNC = ("am_await", "am_aiter", "am_anext", "am_send")
ROWS = {  # tables whose rows are bound one by one: the fields of a row
    "PyMethodDef": ("ml_name", "ml_meth", "ml_flags", "ml_doc"),
    "PyGetSetDef": ("name", "get", "set", "doc", "closure"),
    "PyMemberDef": ("name", "type", "offset", "flags", "doc"),
    "PyType_Slot": ("slot", "pfunc"),
    "PyModuleDef_Slot": ("slot", "value"),
}
SINGLE = {  # tables that consist of one row
    "PyModuleDef": MODULE, "PyTypeObject": TYPE, "PyType_Spec": SPEC, "PyStructSequence_Desc": SEQUENCE_DESC,
    "PyNumberMethods": NUMBER, "PySequenceMethods": SEQUENCE, "PyMappingMethods": MAPPING, "PyAsyncMethods": ASYNC,
}  # fmt: skip
TABLES = frozenset(("tp_methods", "tp_members", "tp_getset", "tp_as_number", "tp_as_sequence",
                    "tp_as_mapping", "tp_as_async",
                    "m_methods", "m_slots", "slots"))  # fmt: skip
NO_FUNCTIONS = frozenset(("ob_base", "tp_name", "tp_basicsize", "tp_itemsize", "tp_print", "tp_flags",
                          "tp_doc", "tp_base",
                          "tp_dict", "tp_weaklistoffset", "tp_dictoffset", "tp_as_buffer", "nb_reserved",
                          "was_sq_slice",
                          "was_sq_ass_slice", "m_base", "m_name", "m_doc", "m_size", "name", "doc",
                          "basicsize", "itemsize",
                          "flags", "fields", "n_in_sequence", "tp_alloc", "tp_free", "tp_bases"))  # fmt: skip
_SAME = ("call", "repr", "str", "hash", "iter", "init", "new")
DUNDERS = {
    **{f"tp_{name}": f"__{name}__" for name in _SAME},
    "tp_iternext": "__next__", "tp_getattro": "__getattribute__", "tp_getattr": "__getattribute__",
    "tp_setattro": "__setattr__", "tp_setattr": "__setattr__", "tp_descr_get": "__get__", "tp_descr_set": "__set__",
    "tp_finalize": "__del__",
    "nb_add": "__add__", "nb_subtract": "__sub__", "nb_multiply": "__mul__", "nb_remainder": "__mod__",
    "nb_divmod": "__divmod__", "nb_power": "__pow__", "nb_negative": "__neg__", "nb_positive": "__pos__",
    "nb_absolute": "__abs__", "nb_bool": "__bool__", "nb_invert": "__invert__", "nb_lshift": "__lshift__",
    "nb_rshift": "__rshift__", "nb_and": "__and__", "nb_xor": "__xor__", "nb_or": "__or__", "nb_int": "__int__",
    "nb_float": "__float__", "nb_inplace_add": "__iadd__", "nb_inplace_subtract": "__isub__",
    "nb_inplace_multiply": "__imul__", "nb_inplace_remainder": "__imod__", "nb_inplace_power": "__ipow__",
    "nb_inplace_lshift": "__ilshift__", "nb_inplace_rshift": "__irshift__", "nb_inplace_and": "__iand__",
    "nb_inplace_xor": "__ixor__", "nb_inplace_or": "__ior__", "nb_floor_divide": "__floordiv__",
    "nb_true_divide": "__truediv__", "nb_inplace_floor_divide": "__ifloordiv__",
    "nb_inplace_true_divide": "__itruediv__", "nb_index": "__index__", "nb_matrix_multiply": "__matmul__",
    "nb_inplace_matrix_multiply": "__imatmul__",
    "sq_length": "__len__", "sq_concat": "__add__", "sq_repeat": "__mul__", "sq_item": "__getitem__",
    "sq_ass_item": "__setitem__", "sq_contains": "__contains__", "sq_inplace_concat": "__iadd__",
    "sq_inplace_repeat": "__imul__", "mp_length": "__len__", "mp_subscript": "__getitem__",
    "mp_ass_subscript": "__setitem__", "am_await": "__await__", "am_aiter": "__aiter__", "am_anext": "__anext__",
}  # fmt: skip
_NOTHING = frozenset(("0", "NULL", "nullptr", "Py_None", "None"))
_ADDS = {  # functions that add something to a module: the positions of the name and the value
    "PyModule_AddObject": (1, 2), "PyModule_AddObjectRef": (1, 2), "PyModule_Add": (1, 2),
    "PyDict_SetItemString": (1, 2),
    "PyObject_SetAttrString": (1, 2), "PyModule_AddIntConstant": (1, 2), "PyModule_AddStringConstant": (1, 2),
}  # fmt: skip
_TYPES = frozenset(("PyTypeObject", "PyType_Spec", "PyStructSequence_Desc"))
_DEEPEST = 20  # nested casts around a variable
_VECTOR = "PyMethodDef"


class TableReader:
    """Reads the tables of a file, and the calls that add to modules."""

    def __init__(self, tokens: Tokens, objects: BoundObjects, places: dict[int, int]) -> None:
        self._tokens, self._objects = tokens, objects
        self._places = places  # symbols, by the offsets of their names
        self._vectors: set[str] = set()
        # Functions of the file that add what they are passed: the object or the parameter for it, name and value.
        self._adders: dict[str, tuple[BoundObject | int, int, int]] = {}

    def at(self, place: int) -> Iterator[BridgeEnd]:
        """Yield the ends in the statement that begins with a name."""
        tokens, word = self._tokens, self._tokens.text[place]
        if word in ROWS:
            yield from self._rows(place, word)
        elif word in SINGLE:
            yield from self._single(place, word)
        elif word.startswith("tp_") and tokens.is_(place - 1, ".") and tokens.is_(place + 1, "="):
            yield from self._assignment(place)
        elif tokens.is_(place + 1, "("):
            yield from self._call(place, word, place + 1)
        elif word in self._adders and tokens.is_(place + 1, "<") and tokens.is_(tokens.template(place + 1), "("):
            yield from self._call(place, word, tokens.template(place + 1))

    # --- tables

    def _table_declaration(self, place: int) -> tuple[int, int]:
        """Return a table's name, and the opening brace of its initialiser; -1 for what is missing."""
        tokens = self._tokens
        name = place + 1
        if not tokens.is_name(name):
            return -1, -1
        while tokens.is_(name + 1, "::") and tokens.is_name(name + 2):
            name += 2
        behind = name + 1
        while tokens.is_(behind, "["):
            behind = tokens.closed(behind)
        if tokens.is_(behind, "="):
            behind += 1
        return (name, behind) if tokens.is_(behind, "{") and tokens.partner[behind] > 0 else (name, -1)

    def _rows(self, place: int, word: str) -> Iterator[BridgeEnd]:
        tokens = self._tokens
        if word == _VECTOR:
            value = place + 3 if tokens.is_(place + 2, "&") else place + 2
            if tokens.is_(place + 1, ">") and tokens.is_name(value):
                self._vectors.add(tokens.text[value])
            elif tokens.is_(place + 1, "*"):
                yield from self._returned_table(place)
        name, opened = self._table_declaration(place)
        if opened < 0:
            return
        table = qualified_name(tokens, name)
        for start, _ in tokens.within(opened):
            if tokens.text[start] == "{":
                fields = _fields(tokens, tokens.within(start), ROWS[word])
            elif tokens.kind[start] == "name" and tokens.is_(start + 1, "{"):
                fields = _fields(tokens, tokens.within(start + 1), ROWS[word])
            else:
                continue
            yield from self._row(word, table, fields)

    def _row(self, word: str, table: str, fields: dict[str, TokenRange]) -> Iterator[BridgeEnd]:
        """Yield the ends of one row of a table."""
        tokens = self._tokens
        if word.endswith("_Slot"):
            yield from self._slot(table, fields)
            return
        label = fields.get("ml_name") or fields.get("name")
        name = tokens.label(label) if label else None
        if not name or label is None or not (name.isidentifier() or "{" in name):
            return
        for field, kind in (("ml_meth", "function"), ("get", "getter"), ("set", "setter"), ("offset", "field")):
            if field in fields and tokens.written(fields[field]) not in _NOTHING:
                place = _function(tokens, fields[field])
                if place >= 0:
                    end = self._binds(place, name, f"table:{table}", kind)
                    owned = kind == "field" and tokens.is_(place - 1, ",") and tokens.is_name(place - 2)
                    yield end._replace(text=f"{tokens.text[place - 2]}::{end.text}") if owned else end

    def _slot(self, table: str, fields: dict[str, TokenRange]) -> Iterator[BridgeEnd]:
        tokens = self._tokens
        values = list(fields.values())
        if len(values) < 2:
            return
        slot = tokens.written(values[0]).removeprefix("Py_")
        place = _function(tokens, values[1])
        if place < 0 or tokens.text[place] in _NOTHING:
            return
        if slot == "mod_exec":
            yield self._end(place, "hands", tokens.text[place], f"table:{table}", "", argument="0")
        elif slot in TABLES:
            yield self._end(place, "used", qualified_name(tokens, place), f"table:{table}", "")
        elif slot.startswith(("tp_", "nb_", "sq_", "mp_", "am_")) and slot not in NO_FUNCTIONS:
            yield self._binds(place, DUNDERS.get(slot, slot), f"table:{table}", "slot")

    def _single(self, place: int, word: str) -> Iterator[BridgeEnd]:
        tokens = self._tokens
        name, opened = self._table_declaration(place)
        if opened < 0:
            return
        variable = qualified_name(tokens, name)
        fields = _fields(tokens, _without_head(tokens, tokens.within(opened)), SINGLE[word])
        called = fields.get("m_name") or fields.get("tp_name") or fields.get("name")
        text = (tokens.label(called) if called else None) or ""
        if word == "PyModuleDef":
            yield self._end(name, "module", text, f"def:{variable}", variable)
        elif word in _TYPES:
            yield self._type(name, text, variable)
        root = (
            f"def:{variable}"
            if word == "PyModuleDef"
            else f"type:{variable}"
            if word in _TYPES
            else f"table:{variable}"
        )
        for field, stretch in fields.items():
            yield from self._field(field, stretch, root)

    def _type(self, name: int, text: str, variable: str) -> BridgeEnd:
        place = self._places.get(self._tokens.at[name], -1)
        return self._end(name, "type", text, f"type:{variable}", variable, symbol=str(place))

    def _field(self, field: str, stretch: TokenRange, root: str) -> Iterator[BridgeEnd]:
        tokens = self._tokens
        place = _function(tokens, stretch)
        if place < 0 or tokens.text[place] in _NOTHING:
            return
        if field in TABLES:
            yield self._end(place, "used", qualified_name(tokens, place), root, "")
        elif field not in NO_FUNCTIONS and field.startswith(("tp_", "nb_", "sq_", "mp_", "am_")):
            yield self._binds(place, DUNDERS.get(field, field), root, "slot")

    def _assignment(self, place: int) -> Iterator[BridgeEnd]:
        """Handle `Type.tp_methods = methods;`."""
        tokens = self._tokens
        if not tokens.is_name(place - 2) or tokens.is_(place + 2, "="):
            return
        end = place + 2
        while end < len(tokens) and tokens.text[end] not in (";", "}", "{"):
            end = tokens.closed(end) if tokens.text[end] in ("(", "[") else end + 1
        variable, value = qualified_name(tokens, place - 2), (place + 2, end)
        if tokens.text[place] == "tp_name":
            text = tokens.literal(value)
            if text:
                yield self._type(place - 2, text, variable)
        else:
            yield from self._field(tokens.text[place], value, f"type:{variable}")

    def _returned_table(self, place: int) -> Iterator[BridgeEnd]:
        """Handle a function that returns a table: `PyMethodDef* methods() { return table; }`."""
        tokens, function = self._tokens, self._objects.function(self._tokens.at[place])
        if function is None or (function.start != tokens.at[place] and function.at < tokens.at[place]):
            return
        for inner in range(place, len(tokens)):
            if tokens.at[inner] >= function.end:
                break
            if tokens.text[inner] == "return" and tokens.is_name(inner + 1):
                yield self._end(
                    inner + 1, "gives", qualified_name(tokens, inner + 1), "", "", symbol=str(function.place)
                )

    # --- calls

    def _call(self, place: int, word: str, opened: int) -> Iterator[BridgeEnd]:
        tokens = self._tokens
        arguments = tokens.within(opened)
        if not arguments:
            return
        if word in _ADDS:
            yield from self._addition(place, arguments, *_ADDS[word])
        elif word == "PyModule_AddIntMacro" or word == "PyModule_AddStringMacro":
            yield from self._value(self._objects.value(arguments[0]), tokens.text[arguments[-1][0]], arguments[-1])
        elif word == "PyModule_AddType" and len(arguments) > 1:
            yield from self._value(self._objects.value(arguments[0]), "", arguments[1])
        elif word == "PyModule_AddFunctions" and len(arguments) > 1:
            owner = self._objects.value(arguments[0])
            if owner is not None:
                yield from self._uses(arguments[1], owner)
        elif word.startswith("Py_InitModule") and len(arguments) > 1:
            yield from self._uses(arguments[1], BoundObject(f"init:{tokens.literal(arguments[0])}"))
        elif word in self._adders:
            target, name, value = self._adders[word]
            yield from self._addition_by_adder(arguments, target, name, value)
        elif word in ("insert", "assign") and tokens.is_(place - 1, ".") and tokens.text[place - 2] in self._vectors:
            some = arguments[1 if word == "insert" and len(arguments) > 1 else 0]
            yield from self._uses(some, BoundObject(f"table:{tokens.text[place - 2]}"))
        elif len(arguments) == 2 and tokens.text[arguments[0][0]] in self._vectors and tokens.is_(arguments[0][1], ","):
            yield from self._uses(arguments[1], BoundObject(f"table:{tokens.text[arguments[0][0]]}"))

    def _uses(self, stretch: TokenRange, owner: BoundObject) -> Iterator[BridgeEnd]:
        """Record that the object uses the table that an expression names."""
        place = _function(self._tokens, stretch)
        if place >= 0 and self._tokens.text[place] not in _NOTHING:
            yield self._end(
                place, "used", qualified_name(self._tokens, place), owner.root, "", path=".".join(owner.path)
            )

    def _addition_by_adder(
        self, arguments: list[TokenRange], target: BoundObject | int, name: int, value: int
    ) -> Iterator[BridgeEnd]:
        if max(name, value, target if isinstance(target, int) else 0) < len(arguments):
            owner = self._objects.value(arguments[target]) if isinstance(target, int) else target
            text = self._tokens.label(arguments[name])
            if text:
                yield from self._value(owner, text, arguments[value])

    def _addition(self, place: int, arguments: list[TokenRange], name: int, value: int) -> Iterator[BridgeEnd]:
        tokens = self._tokens
        if value >= len(arguments):
            return
        text = tokens.label(arguments[name])
        if text and text.startswith("{"):
            self._adder(place, arguments, name, value)
        if text:
            yield from self._value(self._objects.value(arguments[0]), text, arguments[value])

    def _adder(self, place: int, arguments: list[TokenRange], name: int, value: int) -> None:
        """Remember a function, or a named lambda, that adds what it is passed: calls of it count as additions."""
        tokens = self._tokens
        around = self._enclosing_function(place)
        if around is None:
            return
        word, parameters = around
        given = [
            next((p for p in tokens.names(arguments[argument]) if tokens.text[p] in parameters), -1)
            for argument in (name, value)
        ]
        if given[0] < 0 or given[1] < 0:
            return
        target = self._objects.value(arguments[0])
        first = tokens.written(arguments[0])
        parameter: BoundObject | int | None = parameters.index(first) if first in parameters else target
        if parameter is not None:
            self._adders[word] = (
                parameter,
                parameters.index(tokens.text[given[0]]),
                parameters.index(tokens.text[given[1]]),
            )

    def _enclosing_function(self, place: int) -> tuple[str, list[str]] | None:
        """Return the name and parameters of the named lambda or the function around a token."""
        tokens, around = self._tokens, self._tokens.around[place]
        while around > 0:
            if tokens.is_(around - 1, ")"):
                opened = tokens.partner[around - 1]
                if opened > 0 and tokens.is_(opened - 1, "]"):
                    begin = tokens.partner[opened - 1]
                    if begin > 1 and tokens.is_(begin - 1, "=") and tokens.is_name(begin - 2):
                        return tokens.text[begin - 2], parameter_names(tokens, opened)
            around = tokens.around[around]
        function: Definition | None = self._objects.function(tokens.at[place])
        return (function.name, [parameter.name for parameter in function.parameters]) if function is not None else None

    def _value(self, owner: BoundObject | None, text: str, value: TokenRange) -> Iterator[BridgeEnd]:
        """Record that something is added to a module under a name: a type, a module or any other value."""
        tokens = self._tokens
        if owner is None:
            return
        bound = self._objects.value(value)
        place = _variable_token(tokens, value)
        more = {"path": ".".join(owner.path)}
        if bound is not None and (bound.path or not bound.root.startswith("parameter")):
            more["value"], more["below"] = bound.root, ".".join(bound.path)
        elif place >= 0:
            more["value"] = f"type:{qualified_name(tokens, place)}"
        at = place if place >= 0 else value[0]
        yield self._end(at, "adds", text, owner.root, tokens.text[at] if place >= 0 else "", **more)

    def _binds(self, place: int, name: str, root: str, kind: str) -> BridgeEnd:
        return BridgeEnd(
            self._tokens.at[place], "binds", name, qualified_name(self._tokens, place), (("in", root), ("as", kind))
        )

    def _end(self, place: int, says: str, name: str, root: str, text: str, **more: str) -> BridgeEnd:
        rows = (("in", root), *more.items())
        return BridgeEnd(self._tokens.at[place], says, name, text, tuple((key, value) for key, value in rows if value))


def parameter_names(tokens: Tokens, opened: int) -> list[str]:
    """Return the names of the parameters in a list."""
    parameters = []
    for start, end in tokens.within(opened):
        stop = next((place for place in range(start, end) if tokens.text[place] == "="), end)
        names = list(tokens.names((start, stop)))
        parameters.append(tokens.text[names[-1]] if names and names[-1] == stop - 1 else "")
    return parameters


def _fields(tokens: Tokens, elements: list[TokenRange], order: tuple[str, ...]) -> dict[str, TokenRange]:
    """Return the fields of an initialiser, designated or by position."""
    fields, at = {}, 0
    for start, end in elements:
        if tokens.text[start] == "." and tokens.is_name(start + 1) and tokens.is_(start + 2, "="):
            fields[tokens.text[start + 1]] = (start + 3, end)
            if tokens.text[start + 1] in order:
                at = order.index(tokens.text[start + 1]) + 1
        elif at < len(order):
            fields[order[at]] = (start, end)
            at += 1
    return fields


def _without_head(tokens: Tokens, elements: list[TokenRange]) -> list[TokenRange]:
    """Split off a first field whose macro has no comma after it: `PyVarObject_HEAD_INIT(0, 0) "name"`."""
    if not elements:
        return elements
    start, end = elements[0]
    if tokens.kind[start] == "name" and tokens.text[start].endswith("HEAD_INIT"):
        behind = tokens.closed(start + 1) if tokens.is_(start + 1, "(") else start + 1
        if behind < end:
            return [(start, behind), (behind, end), *elements[1:]]
    return elements


def _function(tokens: Tokens, stretch: TokenRange) -> int:
    """Return the token of the function or table inside casts and wrapping macros; -1 if there is none."""
    start, end = stretch
    if end - start > 3 and tokens.text[end - 2 : end] == [">", ")"] and tokens.is_name(tokens.partner[end - 1] - 1):
        return _function(tokens, (tokens.partner[end - 1] + 1, end - 1))  # cast(wrapper<function>)
    if (
        tokens.text[end - 1] == ">"
        and end - start >= 3
        and tokens.kind[end - 2] == "name"
        and tokens.text[end - 3] == "<"
    ):
        return end - 2  # wrapper<function>
    if end - start > 3 and tokens.text[end - 1] == ")" and tokens.partner[end - 1] == end - 2:
        end -= 2  # table(), table.data()
        if tokens.text[end - 2] in (".", "->") and tokens.is_name(end - 3):
            end -= 2
    elif end - start == 3 and tokens.text[start + 1] == "(":
        end = start + 1
    return pointed_function(tokens, (start, end))


def _variable_token(tokens: Tokens, stretch: TokenRange, deep: int = 0) -> int:
    """Return the token of the variable inside casts and `&`; -1 if the expression is more than a variable."""
    start, end = stretch
    while start < end and (tokens.text[start] in ("&", "*") or tokens.text[start] == "("):
        if tokens.text[start] == "(":
            behind = tokens.closed(start)
            if behind >= end:
                start, end = start + 1, end - 1
                continue
            start = behind
        else:
            start += 1
    if end - start > 3 and tokens.text[start] in ("reinterpret_cast", "static_cast") and tokens.text[end - 1] == ")":
        return _variable_token(tokens, (tokens.partner[end - 1] + 1, end - 1), deep + 1) if deep < _DEEPEST else -1
    simple = all(tokens.kind[place] == "name" or tokens.text[place] == "::" for place in range(start, end))
    return end - 1 if simple and start < end and tokens.kind[end - 1] == "name" else -1
