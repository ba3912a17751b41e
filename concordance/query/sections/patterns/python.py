"""Patterns of Python, one small function each.

In: a `PatternFile`. Out: the places that show each pattern. Names are compared as they are written, without resolving
them: in practice, a base written `nn.Module` is that class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from concordance.base.model import Kind, Symbol
from concordance.query.sections.patterns.file_view import PatternFile, PatternPlace

# --- patterns of files: how they are run, what they import, what they deprecate, how they test

_TYPES_ONLY = "TYPE_CHECKING"  # a constant that is false at run time
_MAIN = re.compile(r"""^if[ ]__name__[ ]==[ ]["']__main__["'][ ]*:""", re.M)
_CLI = re.compile(
    r"[^#\n]*?\b(argparse\.ArgumentParser|ArgumentParser|optparse\.OptionParser|typer\.Typer|fire\.Fire)\("
)
_ABSENT = re.compile(r"^[ \t]*except\b.*\b(?:ImportError|ModuleNotFoundError)\b")
_WARNS = re.compile(r"[^#\n]*?\bwarn(?:_once)?\((?:[^()]|\([^()]*\)){0,600}?\b(?:Pending)?DeprecationWarning\b")
_SET = re.compile(r"^([A-Za-z_]\w*)((?:\.\w+)+)[ ]=[ ](?!=)([A-Za-z_][\w.]*)", re.M)
_LOCK = re.compile(r"^[ \t]*(?:self\.|cls\.)?(\w++)(?:[ \t]*+:[^=\n]*+)?[ \t]*+=[ \t]*+"
                   r"(threading|multiprocessing|asyncio|mp)\.(R?Lock|Condition|Semaphore|Event)\(", re.M)  # fmt: skip


def optional_imports(seen: PatternFile) -> Iterator[PatternPlace]:
    had = set()
    for one in seen.facts.imports:
        if one.condition != "try":
            continue
        indent = one.col - 1
        for number in range(one.line, min(one.line + 30, len(seen.lines))):
            line = seen.lines[number]
            if line.strip() and len(line) - len(line.lstrip()) < indent:
                name = one.module if not one.module.startswith(".") or not one.name else f"{one.module}.{one.name}"
                if _ABSENT.match(line) and one.module not in had:
                    had.add(one.module)
                    yield PatternPlace(one.line, -1, name)
                break


def deferred_imports(seen: PatternFile) -> Iterator[PatternPlace]:
    """Yield imports inside of functions, which run only when the function is called."""
    had = set()
    for one in seen.facts.imports:
        scope = one.scope
        while scope > 0 and seen.facts.scopes[scope].kind not in ("function", "lambda"):
            scope = seen.facts.scopes[scope].parent
        if scope > 0 and one.module not in had:
            had.add(one.module)
            yield PatternPlace(one.line, -1, one.module)


def typing_only(seen: PatternFile) -> Iterator[PatternPlace]:
    had = set()
    for one in seen.facts.imports:
        if _TYPES_ONLY in one.condition and one.module not in had:
            had.add(one.module)
            yield PatternPlace(one.line, -1, one.module)


def script_entry(seen: PatternFile) -> Iterator[PatternPlace]:
    return (PatternPlace(line, -1, "__main__") for line, _ in seen.found(_MAIN, seen.hashed, "__main__"))


def command_line(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, match in seen.found(_CLI, seen.hashed, "Parser(", "Typer(", "fire.Fire("):
        if not seen.lines[line - 1].lstrip().startswith(("#", "class ", "def ")):
            yield PatternPlace(
                line,
                seen.around(line),
                "" if seen.around(line) >= 0 else match[1],
                "" if seen.around(line) < 0 else match[1],
            )
    for place, symbol, name in seen.decorated:
        if name in ("click.command", "click.group", "typer.command", "app.command", "cli.command"):
            yield PatternPlace(symbol.start_line, place, "", name)


def deprecations(seen: PatternFile) -> Iterator[PatternPlace]:
    had = set()
    for place, symbol, name in seen.decorated:
        if name.rpartition(".")[2].startswith("deprecate"):
            had.add(place)
            yield PatternPlace(symbol.start_line, place)
    warned = seen.found(_WARNS, seen.hashed, "warn(", "warn_once(") if "DeprecationWarning" in seen.hashed else ()
    for line, _ in warned:
        place = seen.around(line)
        if place >= 0 and place not in had and not seen.lines[line - 1].lstrip().startswith("#"):
            had.add(place)
            yield PatternPlace(line, place, "", "warns")


def monkey_patches(seen: PatternFile) -> Iterator[PatternPlace]:
    """Yield assignments to attributes of imported modules."""
    modules = {one.alias or one.module.partition(".")[0] for one in seen.facts.imports if not one.name}
    for line, match in seen.found(_SET, seen.hashed, *(f"\n{name}." for name in sorted(modules))):
        if match[1] in modules and match[3].partition(".")[0] not in ("None", "True", "False"):
            yield PatternPlace(line, -1, match[1] + match[2], f"set to {match[3]}")


def coroutines(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place, symbol in seen.functions if "async" in symbol.modifiers)


def pickling_methods(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, _ in seen.classes:
        names = [
            name for name in ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__") if name in seen.of(place)
        ]
        if names:
            yield PatternPlace(seen.symbols[seen.of(place)[names[0]]].line, place, "", ", ".join(names))


def locks(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, match in seen.found(_LOCK, seen.hashed, "Lock(", "Condition(", "Semaphore(", "Event("):
        yield PatternPlace(line, -1, match[1], f"{match[2]}.{match[3]}")


def unittest_classes(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        base = next((base for base in symbol.bases if base.endswith("TestCase")), "")
        if base:
            yield seen.shown(place, base)


def parametrised_tests(seen: PatternFile) -> Iterator[PatternPlace]:
    names = ("parametrize", "parameterized", "expand", "subtest", "ops", "modules", "given")
    had = set()
    for place, symbol, name in seen.decorated:
        is_test = symbol.name.startswith("test") or name.endswith("mark.parametrize")
        if is_test and name.rpartition(".")[2] in names and place not in had:
            had.add(place)
            yield seen.shown(place, f"by {name}")


def fixtures(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol, name in seen.decorated:
        if name in ("pytest.fixture", "fixture", "pytest_asyncio.fixture", "pytest.yield_fixture"):
            scope = next((found[1] for one in symbol.modifiers if (found := re.search(r"scope=[\"'](\w+)", one))), "")
            yield seen.shown(place, scope)


def mocks(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol, name in seen.decorated:
        if name in (
            "patch",
            "mock.patch",
            "patch.object",
            "mock.patch.object",
            "unittest.mock.patch",
            "patch.dict",
            "mock.patch.dict",
        ):
            yield PatternPlace(symbol.start_line, place)


def skipped_tests(seen: PatternFile) -> Iterator[PatternPlace]:
    had = set()
    for place, symbol, name in seen.decorated:
        if re.match(r"(?:skip|expectedFailure|xfail)", name.rpartition(".")[2]) and place not in had:
            had.add(place)
            yield PatternPlace(symbol.start_line, place, "", name)


# --- patterns of classes and functions

_ENUMS = frozenset(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"))
_DATA = frozenset(("dataclass", "dataclasses.dataclass", "attr.s", "attr.attrs", "attr.define", "attr.frozen",
                   "attrs.define", "attrs.frozen", "attrs.mutable"))  # fmt: skip
_ARITHMETIC = frozenset(f"__{name}__" for name in (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "neg",
    "invert", "radd", "rsub", "rmul", "iadd", "isub", "imul", "lt", "le", "gt", "ge",
))  # fmt: skip
_MAKES = re.compile(r"\breturn cls\(|= cls\(|= cls\.__new__\(")
_FILLS = re.compile(r"regist|^_?(?:add|define|declare|implement|provide)|override", re.I)
_FILL = re.compile(r"[ \t]++([\w.]+?)(?:\[[^\]\n]++\][ \t]*+=[^=]|\.(?:append|add|setdefault)\()")
_TUPLE = re.compile(r"^\w+\s*=\s*(?:\w+\.)?(?:namedtuple|NamedTuple)\(")
_YIELD = re.compile(r"^[ \t]++(?:[\w.,\[\] \t()]*+(?<=[ \t])=[ \t])?(?:return[ \t]+)?\(?yield\b", re.M)
_EMPTY = re.compile(r"=\s*(?:\{\}|\[\]|(?:dict|list|set|(?:collections\.)?OrderedDict|weakref\.\w+)\(\)|"
                    r"(?:collections\.)?defaultdict\(.*\))$")  # fmt: skip


def _last_part(name: str) -> str:
    """Return the last component of a base's or decorator's name, without anything in brackets."""
    return name.partition("[")[0].partition("(")[0].rpartition(".")[2].strip()


def _with_base(seen: PatternFile, *names: str) -> Iterator[tuple[int, Symbol, str]]:
    for place, symbol in seen.classes:
        base = next((base for base in symbol.bases if _last_part(base) in names), "")
        if base:
            yield place, symbol, base


def _with_members(seen: PatternFile, *names: str) -> Iterator[int]:
    for place, _ in seen.classes:
        if all(name in seen.of(place) for name in names):
            yield place


def _decorated(seen: PatternFile, *names: str) -> Iterator[PatternPlace]:
    """Yield symbols with a decorator of one of the given names, from any module."""
    for place, _, name in seen.decorated:
        if name.rpartition(".")[2] in names:
            yield seen.shown(place)


def _context(seen: PatternFile) -> Iterator[PatternPlace]:
    for place in _with_members(seen, "__enter__", "__exit__"):
        yield seen.shown(place)
    for place in _with_members(seen, "__aenter__", "__aexit__"):
        yield seen.shown(place, "async")
    yield from _decorated(seen, "contextmanager", "asynccontextmanager")


def _data_class(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol, name in seen.decorated:
        if name in _DATA and symbol.kind == Kind.CLASS:
            frozen = name.endswith("frozen") or any("frozen=True" in one for one in symbol.modifiers)
            yield seen.shown(place, "frozen" if frozen else "")


def _named_tuple(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in enumerate(seen.symbols):
        if any(_last_part(base) in ("NamedTuple", "namedtuple") for base in symbol.bases) or _TUPLE.search(
            symbol.signature
        ):
            yield seen.shown(place)


def _enumeration(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in enumerate(seen.symbols):
        base = next((_last_part(base) for base in symbol.bases if _last_part(base) in _ENUMS), "")
        if base and symbol.kind in (Kind.CLASS, Kind.ENUM):
            yield seen.shown(place, "" if base == "Enum" else base)


def _typed_dict(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place, _, _ in _with_base(seen, "TypedDict"))


def _abstract(seen: PatternFile) -> Iterator[PatternPlace]:
    wanted: dict[int, list[str]] = {}
    for _, symbol, name in seen.decorated:
        if (
            name.rpartition(".")[2] in ("abstractmethod", "abstractproperty", "abstractclassmethod")
            and symbol.parent >= 0
        ):
            wanted.setdefault(symbol.parent, []).append(symbol.name)
    for place, names in wanted.items():
        yield seen.shown(place, f"abstract methods: {', '.join(dict.fromkeys(names))}")


def _protocol(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place, _, _ in _with_base(seen, "Protocol"))


def _generic(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, _, base in _with_base(seen, "Generic"):
        yield seen.shown(place, base.partition("[")[2].rstrip("]"))


def _setter(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, _, name in seen.decorated:
        if name.endswith(".setter"):
            yield seen.shown(place)


def _cached(seen: PatternFile) -> Iterator[PatternPlace]:
    return _decorated(seen, "lru_cache", "cache", "cached_property", "memoize", "memoized", "cached")


def _iterator(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place in _with_members(seen, "__iter__", "__next__"))


def _generator(seen: PatternFile) -> Iterator[PatternPlace]:
    had = set()
    for line, _ in seen.found(_YIELD, seen.hashed, "yield"):
        place = seen.around(line)
        if place < 0 or place in had:
            continue
        had.add(place)
        named = {one.partition("(")[0].rpartition(".")[2] for one in seen.symbols[place].modifiers}
        if not named & {"contextmanager", "asynccontextmanager", "fixture", "yield_fixture"}:
            yield PatternPlace(line, place)


def _container(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place in _with_members(seen, "__len__", "__getitem__"))


def _callable(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(seen.of(place)["__call__"]) for place in _with_members(seen, "__call__"))


def _operators(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, _ in seen.classes:
        own = [name.strip("_") for name in seen.of(place) if name in _ARITHMETIC]
        if len(own) > 2:
            yield seen.shown(place, ", ".join(own))


def _descriptor(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place in _with_members(seen, "__get__"))


def _metaclass(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        used = re.search(r"\bmetaclass\s*=\s*([\w.]+)", symbol.signature)
        if any(base in ("type", "ABCMeta", "abc.ABCMeta", "EnumMeta", "enum.EnumMeta") for base in symbol.bases):
            yield seen.shown(place, "a metaclass")
        elif used and _last_part(used[1]) != "ABCMeta":
            yield seen.shown(place, f"metaclass {used[1]}")


def _lazy_module(seen: PatternFile) -> Iterator[PatternPlace]:
    place = seen.of(-1).get("__getattr__", -1)
    if place >= 0:
        yield seen.shown(place)


def _dynamic(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, _ in seen.classes:
        for name in ("__getattr__", "__getattribute__"):
            if name in seen.of(place):
                yield seen.shown(seen.of(place)[name])


def _subclass_hook(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(seen.of(place)["__init_subclass__"]) for place in _with_members(seen, "__init_subclass__"))


def _overload(seen: PatternFile) -> Iterator[PatternPlace]:
    forms: dict[tuple[int, str], list[int]] = {}
    for place, symbol, name in seen.decorated:
        if name.rpartition(".")[2] == "overload":
            forms.setdefault((symbol.parent, symbol.name), []).append(place)
    for places in forms.values():
        yield seen.shown(places[0], f"{len(places)} forms")


def _alternative(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol, name in seen.decorated:
        if name == "classmethod" and not seen.of(place) and _MAKES.search(seen.body(symbol)):
            yield seen.shown(place)


def _singleton(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, _ in seen.classes:
        own = seen.of(place)
        held = next((name for name in ("_instance", "_instances", "__instance", "_singleton") if name in own), "")
        if held and ("__new__" in own or "__call__" in own or "instance" in own or "get_instance" in own):
            yield seen.shown(place, f"stored in {held}")


def _registry(seen: PatternFile) -> Iterator[PatternPlace]:
    """Yield module-level tables filled by a function that is a decorator or has a name such as `register`."""
    lines: dict[str, list[int]] | None = None
    for place, symbol in enumerate(seen.symbols):
        is_table = symbol.parent < 0 and symbol.kind in (Kind.VARIABLE, Kind.CONSTANT)
        if not is_table or not _EMPTY.search(symbol.signature):
            continue
        lines = _lines_that_fill(seen) if lines is None else lines
        for line in lines.get(symbol.name, ()):
            outer = _outermost(seen, seen.around(line))
            if outer >= 0 and (seen.of(outer) or _FILLS.search(seen.symbols[outer].name)):
                yield seen.shown(place, f"filled by {seen.symbols[outer].name}")
                break


def _lines_that_fill(seen: PatternFile) -> dict[str, list[int]]:
    """Return, by the name of a table, the lines that add to it."""
    lines: dict[str, list[int]] = {}
    for line, match in seen.found(_FILL, seen.hashed, "[", ".append(", ".add(", ".setdefault("):
        lines.setdefault(match[1], []).append(line)
    return lines


def _outermost(seen: PatternFile, place: int) -> int:
    """Return the outermost function around a function."""
    while place >= 0:
        parent = seen.symbols[place].parent
        if parent < 0 or seen.symbols[parent].kind not in (Kind.FUNCTION, Kind.METHOD):
            break
        place = parent
    return place


def _decorator(seen: PatternFile) -> Iterator[PatternPlace]:
    used = {name for _, _, name in seen.decorated}
    wraps = {symbol.parent for _, symbol, name in seen.decorated if name.rpartition(".")[2] == "wraps"}
    for place, symbol in seen.functions:
        if symbol.parent >= 0 or symbol.name.startswith("__"):
            continue
        inside = [at for at in seen.of(place).values() if seen.symbols[at].kind == Kind.FUNCTION]
        deep = any(at in wraps for at in inside)
        if inside and (place in wraps or deep or symbol.name in used):
            yield seen.shown(place)


def _mixin(seen: PatternFile) -> Iterator[PatternPlace]:
    return (seen.shown(place) for place, symbol in seen.classes if re.search(r"Mix[iI]n(?:Base)?$", symbol.name))


def _exceptions(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        base = next((base for base in symbol.bases if re.search(r"(?:Error|Exception|Warning)$", base)), "")
        if base:
            yield seen.shown(place, f"extends {base}")


def _autograd(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        if any(base in ("Function", "torch.autograd.Function", "autograd.Function") for base in symbol.bases):
            own = seen.of(place)
            if "forward" in own and "backward" in own:
                yield seen.shown(place)


def _module(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        if "forward" in seen.of(place) and any(_last_part(base) in ("Module", "ScriptModule") for base in symbol.bases):
            yield seen.shown(place)


def _torch_hooks(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, _ in seen.classes:
        for name in ("__torch_function__", "__torch_dispatch__"):
            if name in seen.of(place):
                yield seen.shown(seen.of(place)[name])


def _registered(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol, name in seen.decorated:
        last = name.rpartition(".")[2]
        if re.match(r"_?register(?:_|$)", last) or last in (
            "custom_op",
            "impl",
            "impl_abstract",
            "implements",
            "onnx_symbolic",
        ):
            yield PatternPlace(symbol.start_line, place, "", f"by {name}")


def _slots(seen: PatternFile) -> Iterator[PatternPlace]:
    for place in _with_members(seen, "__slots__"):
        yield PatternPlace(seen.symbols[seen.of(place)["__slots__"]].line, place)


_PYTHON: tuple[tuple[str, Callable[[PatternFile], Iterator[PatternPlace]]], ...] = (
    ("Script entry", script_entry), ("Command line", command_line), ("Network module", _module),
    ("Autograd function", _autograd), ("Torch overrides", _torch_hooks), ("Registered by decorator", _registered),
    ("Registry", _registry), ("Decorator", _decorator), ("Context manager", _context), ("Data class", _data_class),
    ("Named tuple", _named_tuple), ("Typed dictionary", _typed_dict), ("Enumeration", _enumeration),
    ("Abstract class", _abstract), ("Protocol", _protocol), ("Generic class", _generic), ("Mixin", _mixin),
    ("Custom exceptions", _exceptions), ("Metaclass", _metaclass), ("Descriptor", _descriptor),
    ("Subclass hook", _subclass_hook), ("Singleton", _singleton), ("Alternative constructor", _alternative),
    ("Property with setter", _setter), ("Cache", _cached), ("Iterator", _iterator), ("Generator", _generator),
    ("Container", _container), ("Callable object", _callable), ("Operator overloading", _operators),
    ("Dynamic attributes", _dynamic), ("Lazy module", _lazy_module), ("Overloads", _overload), ("Slots", _slots),
    ("Pickling", pickling_methods), ("Coroutines", coroutines), ("Locks", locks),
    ("Optional dependency", optional_imports), ("Deferred import", deferred_imports),
    ("Imports for types only", typing_only), ("Monkey patch", monkey_patches), ("Deprecated", deprecations),
    ("Test case", unittest_classes), ("Parametrised tests", parametrised_tests), ("Fixtures", fixtures),
    ("Mocks", mocks), ("Conditional tests", skipped_tests),
)  # fmt: skip
TABLES = {"python": _PYTHON, "cython": _PYTHON}
