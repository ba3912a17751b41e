"""Patterns of C, C++, CUDA and Objective-C, one small function each.

In: a `PatternContext`. Out: the places that show each pattern. A macro counts as a registration if it has a known name,
begins a line, and is outside of any function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concordance.base.blocks import count_noun
from concordance.base.model import Kind
from concordance.extract.reading.pattern_context import Finder, PatternContext, Place

_REGISTERS = re.compile(
    r"^[ \t]*+((?=(?:\w+_)?REGISTER_\w|TORCH_LIBRARY|TORCH_MODULE|(?:\w+_)?OPERATOR_SCHEMA\b|BENCHMARK|"
    r"PYBIND11_MODULE\b|MODULE_LICENSE\b|EXPORT_SYMBOL|module_init\b|module_exit\b)\w++)[ \t]*+\(\s*+([^,)\n]*)",
    re.M,
)
_LAUNCHED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>)?\s*\Z")
_SHARED = re.compile(
    r"^[ \t]*+(?:extern[ \t]++)?__shared__[ \t]++([\w:<> ]++(?:[\t*][ \t*]*+\w++)?)[ \t]*+(?:\[|;)", re.M
)
_LAST_WORD = re.compile(r".*\b(\w+)", re.S)
_PARALLEL = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+([a-z ]+)|[^\n]*?\b((?:at::|tbb::)?parallel_for)[ \t]*\(", re.M
)
_GUARD = re.compile(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\n[ \t]*#[ \t]*define[ \t]+\1\b", re.M)
_EXTERN = re.compile(r'^[ \t]*extern[ \t]+"C"', re.M)
_ASSERTS = re.compile(r"^[ \t]*static_assert[ \t]*\(", re.M)
_FEATURE = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:def|ndef)?\b[ \t]*(.*)$", re.M)
_MARKS = ("REGISTER_", "TORCH_LIBRARY", "TORCH_MODULE", "OPERATOR_SCHEMA", "BENCHMARK", "PYBIND11_MODULE",
          "MODULE_LICENSE", "EXPORT_SYMBOL", "module_init", "module_exit")  # fmt: skip
_IF = ("#if", "#elif", "# if", "# elif", "#  if", "#   if")
_STATIC = re.compile(r"(?:static\s+|inline\s+|const\s+|C10_\w+\s+|TORCH_API\s+)*([\w:]+)\s*[&*]")
_PLACE = re.compile(r"^(?:(?:public|private|protected|virtual)\s+)+")
_OF_TEMPLATE = re.compile(r">\s*::\s*")
_OPENS = re.compile(r"\s*\(")
_SHORT = 4000  # characters up to which a function may be an accessor of a static
_NOT_WRITTEN = frozenset(("= delete", "= default"))
_WORD = re.compile(r"\b(?:[A-Z]\w*_[A-Z]\w*|_[A-Z_]\w+|__\w+)\b")
_RAII = re.compile(r"(?:Guard|Scope|Scoped|Lock|Locker|RAII|Holder|Cleanup)\d?$|^(?:Auto|Scoped|Unique|RAII)[A-Z]")


def _registered(file: PatternContext) -> Iterator[Place]:
    for line, match in file.matches(_REGISTERS, *_MARKS):
        outside = file.function_at(line) < 0 or match[1].startswith(("TORCH_LIBRARY", "PYBIND11"))
        if outside and not match[1].endswith("_DISPATCH"):
            name = match[2].strip(' \t("')
            yield Place(line, -1, name or match[1], f"by {match[1]}" if name else "")


def _kernels(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.functions:
        if "__global__" in symbol.modifiers or symbol.signature.startswith("__global__"):
            yield file.symbol(place)


def _launches(file: PatternContext) -> Iterator[Place]:
    text, at = file.code, file.code.find("<<<")
    line, counted_to, last = 1, 0, 0
    while at >= 0:
        before = _LAUNCHED.search(text, max(last, at - 400), at)
        if before:
            line += text.count("\n", counted_to, before.start())
            counted_to = before.start()
            place = file.function_at(line)
            if place >= 0:
                yield Place(line, -1, before[1], f"by {file.symbols[place].name}")
        last = at + 3
        at = text.find("<<<", last)


def _shared(file: PatternContext) -> Iterator[Place]:
    for line, match in file.matches(_SHARED, "__shared__"):
        name = _LAST_WORD.fullmatch(match[1].rstrip())
        if name and name.start(1):
            yield Place(line, -1, name[1])


def _parallel(file: PatternContext) -> Iterator[Place]:
    for line, match in file.matches(_PARALLEL, "pragma omp", "parallel_for"):
        yield Place(line, -1, match[2] or f"omp {match[1].strip()}")


def _anonymous_namespaces(file: PatternContext) -> Iterator[Place]:
    for symbol in file.symbols:
        if symbol.kind == Kind.NAMESPACE and symbol.name == "(anonymous)":
            yield Place(symbol.line, -1, "", count_noun(symbol.end_line - symbol.start_line + 1, "line"))


def _abstract(file: PatternContext) -> Iterator[Place]:
    wanted: dict[int, list[str]] = {}
    for symbol in file.symbols:
        if "= 0" in symbol.modifiers and symbol.parent >= 0:
            wanted.setdefault(symbol.parent, []).append(symbol.name)
    for place, names in wanted.items():
        shown = [name for name in dict.fromkeys(names) if not name.startswith("~")] or names
        yield file.symbol(place, f"abstract methods: {', '.join(shown)}")


def _templates(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.classes:
        if symbol.signature.startswith("template"):
            special = re.match(r"template\s*<\s*>", symbol.signature)
            yield file.symbol(place, "specialised" if special else "")


def _function_templates(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.functions:
        signature = symbol.signature
        is_template = signature.startswith("template") and not symbol.declaration
        # `template <class T> void Box<T>::run()` defines a member of a class template.
        if is_template and (signature.count("template") > 1 or not _is_of_template(signature, symbol.name)):
            yield file.symbol(place)


def _is_of_template(signature: str, name: str) -> bool:
    """True if a function's name follows template arguments and `::`; without a pattern, which each name would need."""
    ends = [match.end() for match in _OF_TEMPLATE.finditer(signature)]
    return any(signature.startswith(name, at) and _OPENS.match(signature, at + len(name)) for at in ends)


def _crtp(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.classes:
        # Compiling a pattern costs a hundred times as much as these searches.
        named = [base for base in symbol.bases if "<" in base and symbol.name in base]
        base = next((base for base in named if re.search(rf"<\s*{re.escape(symbol.name)}\b", base)), "")
        if base:
            yield file.symbol(place, f"extends {_PLACE.sub('', base)}")


def _raii(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.classes:
        own = file.members_of(place)
        end = own.get(f"~{symbol.name}", -1)
        if end >= 0 and symbol.name in own and _RAII.search(symbol.name):
            yield Place(file.symbols[end].line, place)


def _not_copyable(file: PatternContext) -> Iterator[Place]:
    for symbol in file.symbols:
        if "= delete" in symbol.modifiers and symbol.parent >= 0:
            name = file.symbols[symbol.parent].name
            if symbol.name == name and re.search(rf"\(\s*const\s+{re.escape(name)}\b[^,)]*&", symbol.signature):
                yield Place(symbol.line, symbol.parent)


def _pimpl(file: PatternContext) -> Iterator[Place]:
    for symbol in file.symbols:
        if symbol.kind == Kind.FIELD and symbol.parent >= 0:
            pointer = re.search(
                r"(?:unique_ptr|shared_ptr)<\s*+(?:struct\s++|class\s++)?(?=\w*Impl)(\w++)\s*+>|^(?:struct\s+)?(\w*Impl)\s*\*",
                symbol.signature,
            )
            name = pointer and (pointer[1] or pointer[2])
            inner = file.members_of(symbol.parent).get(name or "", -1)
            if name and inner >= 0 and file.symbols[inner].declaration:
                yield Place(symbol.line, symbol.parent, "", symbol.name)


def _operators(file: PatternContext) -> Iterator[Place]:
    names: dict[int, list[int]] = {}
    for place, symbol in file.functions:
        if re.match(r"operator\W", symbol.name) and _NOT_WRITTEN.isdisjoint(symbol.modifiers):
            names.setdefault(symbol.parent, []).append(place)
    for parent, places in names.items():
        listed = ", ".join(dict.fromkeys(file.symbols[one].name.removeprefix("operator").strip() for one in places))
        line, is_member = file.symbols[places[0]].line, parent >= 0 and file.symbols[parent].kind != Kind.NAMESPACE
        yield Place(line, parent, "", listed) if is_member else Place(line, -1, listed)


def _lazy_statics(file: PatternContext) -> Iterator[Place]:
    """Yield functions that return a static local variable of the type they return."""
    if b"static" not in file.data:
        return
    for place, symbol in file.functions:
        match = None if symbol.declaration else _STATIC.match(symbol.returns or symbol.signature)
        if match and symbol.end_line - symbol.start_line < 15:
            body = file.body(symbol)
            body = body.partition("{")[2] if len(body) <= _SHORT else ""
            kept = (
                re.compile(
                    rf"\bstatic\s+(?:const\s+)?(?:[\w:]+::)?{re.escape(match[1].rpartition('::')[2])}\b\s*[*&]?\s*(\w+)\s*[;({{=]"
                    r".*?\breturn\s+[*&]?\1;",
                    re.S,
                )
                if "static" in body
                else None
            )
            if kept is not None and kept.search(body):
                yield file.symbol(place)


def _x_macros(file: PatternContext) -> Iterator[Place]:
    for place, symbol in enumerate(file.symbols):
        if symbol.kind == Kind.MACRO and re.search(
            r"\w\((?:_|X|_\w|F|DO|OP|M|macro|FN)(?:,[^)]*)?\)$", symbol.signature
        ):
            first = re.search(r"\((\w+)", symbol.signature)
            calls = re.findall(rf"\b{first[1]}\s*\(", file.body(symbol)) if first else ()
            if len(calls) > 1:
                yield file.symbol(place, f"{len(calls)} entries")


def _extern(file: PatternContext) -> Iterator[Place]:
    return (Place(line, -1, 'extern "C"') for line, _ in file.matches(_EXTERN, '"C"'))


def _asserts(file: PatternContext) -> Iterator[Place]:
    for line, _ in file.matches(_ASSERTS, "static_assert"):
        place = file.function_at(line)
        yield Place(line, place, "" if place >= 0 else "static_assert")


def _features(file: PatternContext) -> Iterator[Place]:
    """Yield the macros that enable parts of the code, except the include guard."""
    had = {match[1] for _, match in file.matches(_GUARD, "ifndef")}
    for line, match in file.matches(_FEATURE, *_IF):
        for word in _WORD.findall(match[1]):
            if word not in had and word != "__cplusplus":
                had.add(word)
                yield Place(line, -1, word)


def _suites(file: PatternContext) -> Iterator[Place]:
    for place, symbol in file.functions:
        if re.match(r"(?:TYPED_)?TEST_P\(|TYPED_TEST\w*\(", symbol.name):
            yield file.symbol(place)


def _fixtures(file: PatternContext) -> Iterator[Place]:
    for place, _ in file.classes_with_base(re.compile(r"::Test(?:WithParam\b.*)?$").search):
        yield file.symbol(place)


_Row = tuple[str, Finder]
_C: tuple[_Row, ...] = (
    ("Registration macros", _registered), ("X-macro", _x_macros),
    ("Parallel loops", _parallel), ("C linkage", _extern), ("Conditional compilation", _features),
)  # fmt: skip
_CPP: tuple[_Row, ...] = (
    ("Registration macros", _registered),
    ("Kernels", _kernels),
    ("Kernel launches", _launches),
    ("Shared memory", _shared),
    ("Abstract class", _abstract),
    ("Class template", _templates),
    ("Function template", _function_templates),
    ("Curiously recurring template", _crtp),
    ("Scope guard", _raii),
    ("Not copyable", _not_copyable),
    ("Pointer to implementation", _pimpl),
    ("Operator overloading", _operators),
    ("Created once, on first use", _lazy_statics),
    ("X-macro", _x_macros),
    ("Anonymous namespace", _anonymous_namespaces),
    ("Parallel loops", _parallel),
    ("Compile-time checks", _asserts),
    ("C linkage", _extern),
    ("Conditional compilation", _features),
    ("Parametrised tests", _suites),
    ("Test fixture", _fixtures),
)
TABLES = {"c": _C, "objc": _C, "cpp": _CPP, "cuda": _CPP, "objcpp": _CPP}
