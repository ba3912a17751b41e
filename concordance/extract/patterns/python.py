"""Patterns of Python, one small function each.

In: a `PatternContext`. Out: the places that show each pattern. Names are compared as they are written, without
resolving them: in practice, a base written `nn.Module` is that class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from concordance.base.blocks import count_noun
from concordance.base.model import Kind
from concordance.extract.reading.pattern_context import Finder, PatternContext, Place
from concordance.extract.reading.rule_context import Call

# --- patterns of files: how they are run, what they import, what they deprecate, how they test

_TYPES_ONLY = re.compile(r"if (?:\w+\.)?TYPE_CHECKING(?: and .*)?$")  # a constant that is false at run time
_OPTIONS = ("click.option", "option", "typer.Option")
_PARSERS = ("argparse.ArgumentParser", "ArgumentParser", "optparse.OptionParser", "typer.Typer", "fire.Fire")
_ATTRIBUTE = re.compile(rb"^(\w+)\.", re.M)
_LOCKS = re.compile(r"(?:threading|multiprocessing|asyncio|mp)\.(?:R?Lock|Condition|Semaphore|Event)")


def optional_imports(file: PatternContext) -> Iterator[Place]:
    """Yield imports in the body of a `try` that goes on without the module if it is missing.

    A handler that imports a replacement, or that raises an error while the file is loaded, does not go on without it.
    """
    listed = set()
    for at, row in file.draft.imports:
        if row.condition != "try" or row.module in listed:
            continue
        path = file.path(at)
        around = next((node for node in reversed(path) if node.type == "try_statement"), None)
        handlers = [node for node in around.named_children if _catches_import_error(file, node)] if around else []
        is_loaded = not any(node.type == "function_definition" for node in path)
        if handlers and not any(_needs_module(handler, is_loaded) for handler in handlers):
            listed.add(row.module)
            relative = row.module.startswith(".") and row.name
            yield Place(row.line, -1, f"{row.module}.{row.name}" if relative else row.module)


def _needs_module(handler: Node, is_loaded: bool) -> bool:
    kinds = {node.type for node in handler.named_children[-1].named_children}
    return not kinds.isdisjoint(("import_statement", "import_from_statement")) or (
        is_loaded and "raise_statement" in kinds
    )


def _catches_import_error(file: PatternContext, clause: Node) -> bool:
    if clause.type != "except_clause":
        return False
    caught = file.text(clause).partition(":")[0]
    return re.search(r"\b(?:ImportError|ModuleNotFoundError)\b", caught) is not None


def deferred_imports(file: PatternContext) -> Iterator[Place]:
    """Yield imports inside of functions, which run only when the function is called."""
    had = set()
    for imported in file.facts.imports:
        scope = imported.scope
        while scope > 0 and file.facts.scopes[scope].kind not in ("function", "lambda"):
            scope = file.facts.scopes[scope].parent
        if scope > 0 and imported.module not in had:
            had.add(imported.module)
            yield Place(imported.line, -1, imported.module)


def typing_only(file: PatternContext) -> Iterator[Place]:
    had = set()
    for imported in file.facts.imports:
        if _TYPES_ONLY.match(imported.condition) and imported.module not in had:
            had.add(imported.module)
            yield Place(imported.line, -1, imported.module)


def script_entry(file: PatternContext) -> Iterator[Place]:
    for node in file.nodes(("if_statement",), b"if __name__"):
        condition = file.text(file.field(node, "condition")).replace("'", '"')
        if condition == '__name__ == "__main__"' and node.parent == file.draft.root:
            yield Place(file.line(node), -1, "__main__")


def command_line(file: PatternContext) -> Iterator[Place]:
    for call in file.calls("ArgumentParser", "OptionParser", "Typer", "Fire"):
        name = file.text(call.function)
        if name in _PARSERS:
            yield file.in_function(file.line(call.node), name)
    for place, symbol, name in file.decorated:
        if name in ("click.command", "click.group", "typer.command", "app.command", "cli.command"):
            yield Place(symbol.start_line, place, "", name)


def options(file: PatternContext) -> Iterator[Place]:
    """Yield the options of the command line that a script declares."""
    for call in file.calls("add_argument", "add_option", "option"):
        if call.arguments and (".add_" in (name := file.text(call.function)) or name in _OPTIONS):
            words = [file.text(node).strip("\"'") for node in call.arguments if node.type == "string"]
            names = [word for word in words if re.fullmatch(r"--?[\w/-]+", word)]
            if names:
                yield Place(file.line(call.node), -1, max(names, key=len).partition("/")[0])


def deprecations(file: PatternContext) -> Iterator[Place]:
    had = set()
    for place, symbol, name in file.decorated:
        if name.rpartition(".")[2].startswith("deprecate"):
            had.add(place)
            yield Place(symbol.start_line, place)
    if b"DeprecationWarning" in file.data:
        for call in file.calls("warn", "warn_once"):
            line = file.line(call.node)
            place = file.function_at(line)
            if place >= 0 and place not in had and _warns_of_deprecation(file, call):
                had.add(place)
                yield Place(line, place, "", "warns")


def _warns_of_deprecation(file: PatternContext, call: Call) -> bool:
    return any(re.search(r"\b(?:Pending)?DeprecationWarning\b", file.text(node)) for node in call.arguments)


def monkey_patches(file: PatternContext) -> Iterator[Place]:
    """Yield assignments to attributes of imported modules, at the top level of the file."""
    modules = {
        imported.alias or imported.module.partition(".")[0] for imported in file.facts.imports if not imported.name
    }
    for match in _ATTRIBUTE.finditer(file.data) if modules else ():
        if match[1].decode("utf-8", "replace") not in modules:
            continue
        node = next((node for node in file.path(match.start()) if node.type == "assignment"), None)
        target, value = file.field(node, "left"), file.field(node, "right")
        if node is None or target is None or value is None or target.type != "attribute":
            continue
        name = re.match(r"[^\W\d][\w.]*", file.text(value))
        if name is not None and value.type not in ("none", "true", "false") and node.start_byte == match.start():
            yield Place(file.line(node), -1, file.text(target), f"set to {name[0]}")


def coroutines(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place, symbol in file.functions if "async" in symbol.modifiers)


def pickling_methods(file: PatternContext) -> Iterator[Place]:
    for place, _ in file.classes:
        own = file.members_of(place)
        names = [name for name in ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__") if name in own]
        if names:
            yield Place(file.symbols[own[names[0]]].line, place, "", ", ".join(names))


def locks(file: PatternContext) -> Iterator[Place]:
    for call in file.calls("Lock", "RLock", "Condition", "Semaphore", "Event"):
        name, assignment = file.text(call.function), call.around[-1]
        target = file.field(assignment, "left") if assignment.type == "assignment" else None
        if target is not None and _LOCKS.fullmatch(name):
            owner, _, variable = file.text(target).rpartition(".")
            if owner in ("", "self", "cls"):
                yield Place(file.line(assignment), -1, variable, name)


def unittest_classes(file: PatternContext) -> Iterator[Place]:
    for place, base in file.classes_with_base(lambda base: base.endswith("TestCase")):
        yield file.symbol(place, base)


def parametrised_tests(file: PatternContext) -> Iterator[Place]:
    names = ("parametrize", "parameterized", "expand", "subtest", "ops", "modules", "given")
    had = set()
    for place, symbol, name in file.decorated:
        is_test = symbol.name.startswith("test") or name.endswith("mark.parametrize")
        if is_test and name.rpartition(".")[2] in names and place not in had:
            had.add(place)
            yield file.symbol(place, f"by {name}")


def fixtures(file: PatternContext) -> Iterator[Place]:
    for place, symbol, name in file.decorated:
        if name in ("pytest.fixture", "fixture", "pytest_asyncio.fixture", "pytest.yield_fixture"):
            scope = next(
                (match[1] for modifier in symbol.modifiers if (match := re.search(r"scope=[\"'](\w+)", modifier))), ""
            )
            yield file.symbol(place, scope)


def mocks(file: PatternContext) -> Iterator[Place]:
    for place, symbol, name in file.decorated:
        if name in (
            "patch",
            "mock.patch",
            "patch.object",
            "mock.patch.object",
            "unittest.mock.patch",
            "patch.dict",
            "mock.patch.dict",
        ):
            yield Place(symbol.start_line, place)


def skipped_tests(file: PatternContext) -> Iterator[Place]:
    had = set()
    for place, symbol, name in file.decorated:
        if re.match(r"(?:skip|expectedFailure|xfail)", name.rpartition(".")[2]) and place not in had:
            had.add(place)
            yield Place(symbol.start_line, place, "", name)


# --- patterns of classes and functions

_ENUMS = frozenset(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"))
_DATA = frozenset(("dataclass", "dataclasses.dataclass", "attr.s", "attr.attrs", "attr.define", "attr.frozen",
                   "attrs.define", "attrs.frozen", "attrs.mutable"))  # fmt: skip
_ARITHMETIC = frozenset(f"__{name}__" for name in (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "neg",
    "invert", "radd", "rsub", "rmul", "iadd", "isub", "imul", "lt", "le", "gt", "ge",
))  # fmt: skip
_FILLS = re.compile(r"regist|^_?(?:add|define|declare|implement|provide)|override", re.I)
_TUPLE = re.compile(r"^\w+\s*=\s*(?:\w+\.)?(?:namedtuple|NamedTuple)\(")
_EMPTY = re.compile(r"=\s*(?:\{\}|\[\]|(?:dict|list|set|(?:collections\.)?OrderedDict|weakref\.\w+)\(\)|"
                    r"(?:collections\.)?defaultdict\(.*\))$")  # fmt: skip


def _last_part(name: str) -> str:
    """Return the last component of a base's or decorator's name, without anything in brackets."""
    return name.partition("[")[0].partition("(")[0].rpartition(".")[2].strip()


def _with_base(file: PatternContext, name: str) -> Iterator[tuple[int, str]]:
    return file.classes_with_base(lambda base: _last_part(base) == name)


def _with_members(file: PatternContext, *names: str) -> Iterator[int]:
    for place, _ in file.classes:
        if all(name in file.members_of(place) for name in names):
            yield place


def _decorated(file: PatternContext, *names: str) -> Iterator[Place]:
    """Yield symbols with a decorator of one of the given names, from any module."""
    for place, _, name in file.decorated:
        if name.rpartition(".")[2] in names:
            yield file.symbol(place)


def _context(file: PatternContext) -> Iterator[Place]:
    for place in _with_members(file, "__enter__", "__exit__"):
        yield file.symbol(place)
    for place in _with_members(file, "__aenter__", "__aexit__"):
        yield file.symbol(place, "async")
    yield from _decorated(file, "contextmanager", "asynccontextmanager")


def _data_class(file: PatternContext) -> Iterator[Place]:
    for place, symbol, name in file.decorated:
        if name in _DATA and symbol.kind == Kind.CLASS:
            frozen = name.endswith("frozen") or any("frozen=True" in modifier for modifier in symbol.modifiers)
            yield file.symbol(place, "frozen" if frozen else "")


def _named_tuple(file: PatternContext) -> Iterator[Place]:
    for place, symbol in enumerate(file.symbols):
        if any(_last_part(base) in ("NamedTuple", "namedtuple") for base in symbol.bases) or _TUPLE.search(
            symbol.signature
        ):
            yield file.symbol(place)


def _enumeration(file: PatternContext) -> Iterator[Place]:
    for place, symbol in enumerate(file.symbols):
        base = next((_last_part(base) for base in symbol.bases if _last_part(base) in _ENUMS), "")
        if base and symbol.kind in (Kind.CLASS, Kind.ENUM):
            yield file.symbol(place, "" if base == "Enum" else base)


def _typed_dict(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place, _ in _with_base(file, "TypedDict"))


def _abstract(file: PatternContext) -> Iterator[Place]:
    wanted: dict[int, list[str]] = {}
    for _, symbol, name in file.decorated:
        if (
            name.rpartition(".")[2] in ("abstractmethod", "abstractproperty", "abstractclassmethod")
            and symbol.parent >= 0
        ):
            wanted.setdefault(symbol.parent, []).append(symbol.name)
    for place, names in wanted.items():
        yield file.symbol(place, f"abstract methods: {', '.join(dict.fromkeys(names))}")


def _protocol(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place, _ in _with_base(file, "Protocol"))


def _generic(file: PatternContext) -> Iterator[Place]:
    for place, base in _with_base(file, "Generic"):
        yield file.symbol(place, base.partition("[")[2].rstrip("]"))


def _setter(file: PatternContext) -> Iterator[Place]:
    for place, _, name in file.decorated:
        if name.endswith(".setter"):
            yield file.symbol(place)


def _cached(file: PatternContext) -> Iterator[Place]:
    return _decorated(file, "lru_cache", "cache", "cached_property", "memoize", "memoized", "cached")


def _iterator(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place in _with_members(file, "__iter__", "__next__"))


def _generator(file: PatternContext) -> Iterator[Place]:
    had = set()
    for node in file.nodes(("yield",), b"yield"):
        line = file.line(node)
        place = file.function_at(line)
        if place < 0 or place in had:
            continue
        had.add(place)
        named = {modifier.partition("(")[0].rpartition(".")[2] for modifier in file.symbols[place].modifiers}
        if not named & {"contextmanager", "asynccontextmanager", "fixture", "yield_fixture"}:
            yield Place(line, place)


def _container(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place in _with_members(file, "__len__", "__getitem__"))


def _callable(file: PatternContext) -> Iterator[Place]:
    return map(file.symbol, file.class_members("__call__"))


def _operators(file: PatternContext) -> Iterator[Place]:
    for place, _ in file.classes:
        own = [name.strip("_") for name in file.members_of(place) if name in _ARITHMETIC]
        if len(own) > 2:
            yield file.symbol(place, ", ".join(own))


def _descriptor(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place in _with_members(file, "__get__"))


def _metaclass(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.classes:
        used = re.search(r"\bmetaclass\s*=\s*([\w.]+)", symbol.signature)
        if any(base in ("type", "ABCMeta", "abc.ABCMeta", "EnumMeta", "enum.EnumMeta") for base in symbol.bases):
            yield file.symbol(place, "a metaclass")
        elif used and _last_part(used[1]) != "ABCMeta":
            yield file.symbol(place, f"metaclass {used[1]}")


def _lazy_module(file: PatternContext) -> Iterator[Place]:
    place = file.members_of(-1).get("__getattr__", -1)
    if place >= 0:
        yield file.symbol(place)


def _dynamic(file: PatternContext) -> Iterator[Place]:
    return map(file.symbol, file.class_members("__getattr__", "__getattribute__"))


def _subclass_hook(file: PatternContext) -> Iterator[Place]:
    return map(file.symbol, file.class_members("__init_subclass__"))


def _overload(file: PatternContext) -> Iterator[Place]:
    forms: dict[tuple[int, str], list[int]] = {}
    for place, symbol, name in file.decorated:
        if name.rpartition(".")[2] == "overload":
            forms.setdefault((symbol.parent, symbol.name), []).append(place)
    for places in forms.values():
        yield file.symbol(places[0], count_noun(len(places), "form"))


def _alternative(file: PatternContext) -> Iterator[Place]:
    """Yield class methods that make an instance: they call `cls(…)` or `cls.__new__(…)`."""
    methods = {place for place, _, name in file.decorated if name == "classmethod" and not file.members_of(place)}
    if methods:
        calls = [call for call in file.calls("cls", "__new__") if file.text(call.function) in ("cls", "cls.__new__")]
        for place in sorted(methods & {file.function_at(file.line(call.node)) for call in calls}):
            yield file.symbol(place)


def _singleton(file: PatternContext) -> Iterator[Place]:
    for place, _ in file.classes:
        own = file.members_of(place)
        attribute = next((name for name in ("_instance", "_instances", "__instance", "_singleton") if name in own), "")
        if attribute and ("__new__" in own or "__call__" in own or "instance" in own or "get_instance" in own):
            yield file.symbol(place, f"stored in {attribute}")


def _registry(file: PatternContext) -> Iterator[Place]:
    """Yield module-level tables filled by a function that is a decorator or has a name such as `register`."""
    tables = {
        symbol.name.encode(): place
        for place, symbol in enumerate(file.symbols)
        if symbol.parent < 0 and symbol.kind in (Kind.VARIABLE, Kind.CONSTANT) and _EMPTY.search(symbol.signature)
    }
    for start, end in sorted(file.draft.ends.items()) if tables else ():
        name = file.data[start:end]
        if name in tables and _is_filled(file, start):
            outer = _outermost(file, file.function_at(file.source.line(start)))
            if outer >= 0 and (file.members_of(outer) or _FILLS.search(file.symbols[outer].name)):
                yield file.symbol(tables.pop(name), f"filled by {file.symbols[outer].name}")


def _is_filled(file: PatternContext, at: int) -> bool:
    """True if the code adds to the table at an offset: `table[key] = value`, `table.append(value)`."""
    *_, around, inner, _ = [None, None, *file.path(at)]
    if around is None or inner is None or inner.start_byte != at:
        return False
    if inner.type == "subscript":
        return around.type == "assignment" and around.child_by_field_name("left") == inner
    method = inner.child_by_field_name("attribute") if inner.type == "attribute" else None
    return around.type == "call" and file.text(method) in ("append", "add", "setdefault")


def _outermost(file: PatternContext, place: int) -> int:
    """Return the outermost function around a function."""
    while place >= 0:
        parent = file.symbols[place].parent
        if parent < 0 or file.symbols[parent].kind not in (Kind.FUNCTION, Kind.METHOD):
            break
        place = parent
    return place


def _decorator(file: PatternContext) -> Iterator[Place]:
    used = {name for _, _, name in file.decorated}
    wraps = {symbol.parent for _, symbol, name in file.decorated if name.rpartition(".")[2] == "wraps"}
    for place, symbol in file.functions:
        if symbol.parent >= 0 or symbol.name.startswith("__"):
            continue
        inside = [at for at in file.members_of(place).values() if file.symbols[at].kind == Kind.FUNCTION]
        deep = any(at in wraps for at in inside)
        if inside and (place in wraps or deep or symbol.name in used):
            yield file.symbol(place)


def _mixin(file: PatternContext) -> Iterator[Place]:
    return (file.symbol(place) for place, symbol in file.classes if re.search(r"Mix[iI]n(?:Base)?$", symbol.name))


def _exceptions(file: PatternContext) -> Iterator[Place]:
    for place, base in file.classes_with_base(re.compile(r"(?:Error|Exception|Warning)$").search):
        yield file.symbol(place, f"extends {base}")


def _registered(file: PatternContext) -> Iterator[Place]:
    for place, symbol, name in file.decorated:
        last = name.rpartition(".")[2]
        if re.match(r"_?register(?:_|$)", last) or last in (
            "custom_op",
            "impl",
            "impl_abstract",
            "implements",
            "onnx_symbolic",
        ):
            yield Place(symbol.start_line, place, "", f"by {name}")


def _slots(file: PatternContext) -> Iterator[Place]:
    for place in _with_members(file, "__slots__"):
        yield Place(file.symbols[file.members_of(place)["__slots__"]].line, place)


_PYTHON: tuple[tuple[str, Finder], ...] = (
    ("Script entry", script_entry), ("Command line", command_line), ("Options", options),
    ("Registered by decorator", _registered),
    ("Registry", _registry), ("Decorator", _decorator), ("Context manager", _context), ("Data class", _data_class),
    ("Named tuple", _named_tuple), ("Typed dictionary", _typed_dict), ("Enumeration", _enumeration),
    ("Abstract class", _abstract), ("Protocol", _protocol), ("Generic class", _generic), ("Mixin", _mixin),
    ("Custom exceptions", _exceptions), ("Metaclass", _metaclass), ("Descriptor", _descriptor),
    ("Subclass hook", _subclass_hook), ("Singleton", _singleton), ("Alternative constructor", _alternative),
    ("Property with setter", _setter), ("Cache", _cached), ("Iterator", _iterator), ("Generator", _generator),
    ("Container", _container), ("Callable object", _callable), ("Operator overloading", _operators),
    ("Dynamic attributes", _dynamic), ("Lazy module", _lazy_module), ("Overloads", _overload), ("Slots", _slots),
    ("Pickling", pickling_methods), ("Coroutines", coroutines), ("Locks and events", locks),
    ("Optional dependency", optional_imports), ("Deferred import", deferred_imports),
    ("Imports for types only", typing_only), ("Monkey patch", monkey_patches), ("Deprecated", deprecations),
    ("Test case", unittest_classes), ("Parametrised tests", parametrised_tests), ("Fixtures", fixtures),
    ("Mocks", mocks), ("Conditional tests", skipped_tests),
)  # fmt: skip
TABLES = {"python": _PYTHON}
