"""Patterns of C, C++, CUDA and Objective-C, one small function each.

In: a `PatternFile`. Out: the places that show each pattern. A macro counts as a registration if it has a known name,
begins a line, and is outside of any function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from concordance.base.blocks import count_noun
from concordance.base.model import Kind
from concordance.query.sections.patterns.file_view import PatternFile, PatternPlace

_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)
_GUARD = re.compile(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)[ \t]*\n[ \t]*#[ \t]*define[ \t]+\1\b", re.M)
_REGISTERS = re.compile(
    r"^[ \t]*+((?=(?:\w+_)?REGISTER_\w|TORCH_LIBRARY|TORCH_MODULE|(?:\w+_)?OPERATOR_SCHEMA\b|BENCHMARK|"
    r"PYBIND11_MODULE\b|MODULE_LICENSE\b|EXPORT_SYMBOL|module_init\b|module_exit\b)\w++)[ \t]*+\(\s*+([^,)\n]*)",
    re.M,
)
_STUB = re.compile(
    r"^[ \t]*((?:DECLARE|DEFINE|REGISTER)_(?:\w+_)?DISPATCH)[ \t]*\((?:[^,()\n]++,[ \t]*+|[ \t]*+)(\w+)", re.M
)
_TYPES = re.compile(r"[^/\n#]*?\b(AT_DISPATCH_\w+|VML_DISPATCH\w*)[ \t]*\(", re.M)
_LAUNCHED = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^;{}()]*>)?\s*\Z")
_SHARED = re.compile(
    r"^[ \t]*+(?:extern[ \t]++)?__shared__[ \t]++([\w:<> ]++(?:[\t*][ \t*]*+\w++)?)[ \t]*+(?:\[|;)", re.M
)
_LAST_WORD = re.compile(r".*\b(\w+)", re.S)
_PARALLEL = re.compile(
    r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+([a-z ]+)|[^/\n]*?\b((?:at::|tbb::)?parallel_for)[ \t]*\(", re.M
)
_EXTERN = re.compile(r'^[ \t]*extern[ \t]+"C"', re.M)
_ASSERTS = re.compile(r"^[ \t]*static_assert[ \t]*\(", re.M)
_FEATURE = re.compile(r"^[ \t]*#[ \t]*(?:el)?if(?:def|ndef)?\b[ \t]*(.*)$", re.M)
_MARKS = ("REGISTER_", "TORCH_LIBRARY", "TORCH_MODULE", "OPERATOR_SCHEMA", "BENCHMARK", "PYBIND11_MODULE",
          "MODULE_LICENSE", "EXPORT_SYMBOL", "module_init", "module_exit")  # fmt: skip
_IF = ("#if", "#elif", "# if", "# elif", "#  if", "#   if")
_STATIC = re.compile(r"(?:static\s+|inline\s+|const\s+|C10_\w+\s+|TORCH_API\s+)*([\w:]+)\s*[&*]")
_PLACE = re.compile(r"^(?:(?:public|private|protected|virtual)\s+)+")
_SHORT = 4000  # characters up to which a function may be an accessor of a static
_NOT_WRITTEN = frozenset(("= delete", "= default"))
_WORD = re.compile(r"\b(?:[A-Z]\w*_[A-Z]\w*|_[A-Z_]\w+|__\w+)\b")
_RAII = re.compile(r"(?:Guard|Scope|Scoped|Lock|Locker|RAII|Holder|Cleanup)\d?$|^(?:Auto|Scoped|Unique|RAII)[A-Z]")


def _guard(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, _ in seen.found(_PRAGMA, seen.slashed, "once"):
        yield PatternPlace(line, -1, "#pragma once")
        return
    for line, match in seen.found(_GUARD, seen.slashed, "ifndef"):
        if not any(
            text.strip() and not text.lstrip().startswith("//") for text in seen.slashed.split("\n")[: line - 1]
        ):
            yield PatternPlace(line, -1, match[1])
        return


def _registered(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, match in seen.found(_REGISTERS, seen.slashed, *_MARKS):
        outside = seen.around(line) < 0 or match[1].startswith(("TORCH_LIBRARY", "PYBIND11"))
        if outside and not match[1].endswith("_DISPATCH"):
            name = match[2].strip(' \t("')
            yield PatternPlace(line, -1, name or match[1], f"by {match[1]}" if name else "")


def _stubs(seen: PatternFile) -> Iterator[PatternPlace]:
    said = {"DECLARE": "declared", "DEFINE": "defined", "REGISTER": "filled"}
    for line, match in seen.found(_STUB, seen.slashed, "_DISPATCH"):
        word = said[match[1].partition("_")[0]]
        if word == "filled":
            inside = re.search(r"\([ \t]*(\w+)", match[0])
            yield PatternPlace(line, -1, inside[1] if inside else match[2], word)
        else:
            yield PatternPlace(line, -1, match[2], word)


def _type_dispatch(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, match in seen.found(_TYPES, seen.slashed, "AT_DISPATCH_", "VML_DISPATCH"):
        place = seen.around(line)
        if place >= 0:
            yield PatternPlace(line, place, "", match[1])


def _kernels(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.functions:
        if "__global__" in symbol.modifiers or symbol.signature.startswith("__global__"):
            yield seen.shown(place)


def _launches(seen: PatternFile) -> Iterator[PatternPlace]:
    text, at = seen.slashed, seen.slashed.find("<<<")
    line, counted_to, last = 1, 0, 0
    while at >= 0:
        before = _LAUNCHED.search(text, max(last, at - 400), at)
        if before:
            line += text.count("\n", counted_to, before.start())
            counted_to = before.start()
            place = seen.around(line)
            if place >= 0 and not seen.lines[line - 1].lstrip().startswith("//"):
                yield PatternPlace(line, -1, before[1], f"by {seen.symbols[place].name}")
        last = at + 3
        at = text.find("<<<", last)


def _shared(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, match in seen.found(_SHARED, seen.slashed, "__shared__"):
        name = _LAST_WORD.fullmatch(match[1].rstrip())
        if name and name.start(1):
            yield PatternPlace(line, -1, name[1])


def _parallel(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, match in seen.found(_PARALLEL, seen.slashed, "pragma omp", "parallel_for"):
        if not seen.lines[line - 1].lstrip().startswith("//"):
            yield PatternPlace(line, -1, match[2] or f"omp {match[1].strip()}")


def _anonymous_namespaces(seen: PatternFile) -> Iterator[PatternPlace]:
    for symbol in seen.symbols:
        if symbol.kind == Kind.NAMESPACE and symbol.name == "(anonymous)":
            yield PatternPlace(
                symbol.line, -1, "namespace", count_noun(symbol.end_line - symbol.start_line + 1, "line")
            )


def _abstract(seen: PatternFile) -> Iterator[PatternPlace]:
    wanted: dict[int, list[str]] = {}
    for symbol in seen.symbols:
        if "= 0" in symbol.modifiers and symbol.parent >= 0:
            wanted.setdefault(symbol.parent, []).append(symbol.name)
    for place, names in wanted.items():
        shown = [name for name in dict.fromkeys(names) if not name.startswith("~")] or names
        yield seen.shown(place, f"abstract methods: {', '.join(shown)}")


def _templates(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        if symbol.signature.startswith("template"):
            special = re.match(r"template\s*<\s*>", symbol.signature)
            yield seen.shown(place, "specialised" if special else "")


def _function_templates(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.functions:
        if symbol.signature.startswith("template") and not symbol.declaration:
            yield seen.shown(place)


def _crtp(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        base = next((base for base in symbol.bases if re.search(rf"<\s*{re.escape(symbol.name)}\b", base)), "")
        if base:
            yield seen.shown(place, f"extends {_PLACE.sub('', base)}")


def _raii(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        own = seen.of(place)
        end = own.get(f"~{symbol.name}", -1)
        if end >= 0 and symbol.name in own and _RAII.search(symbol.name):
            yield PatternPlace(seen.symbols[end].line, place)


def _not_copyable(seen: PatternFile) -> Iterator[PatternPlace]:
    for symbol in seen.symbols:
        if "= delete" in symbol.modifiers and symbol.parent >= 0:
            name = seen.symbols[symbol.parent].name
            if symbol.name == name and re.search(rf"\(\s*const\s+{re.escape(name)}\b[^,)]*&", symbol.signature):
                yield PatternPlace(symbol.line, symbol.parent)


def _pimpl(seen: PatternFile) -> Iterator[PatternPlace]:
    for symbol in seen.symbols:
        if symbol.kind == Kind.FIELD and symbol.parent >= 0:
            held = re.search(
                r"(?:unique_ptr|shared_ptr)<\s*+(?:struct\s++|class\s++)?(?=\w*Impl)(\w++)\s*+>|^(?:struct\s+)?(\w*Impl)\s*\*",
                symbol.signature,
            )
            name = held and (held[1] or held[2])
            inner = seen.of(symbol.parent).get(name or "", -1)
            if name and inner >= 0 and seen.symbols[inner].declaration:
                yield PatternPlace(symbol.line, symbol.parent, "", symbol.name)


def _operators(seen: PatternFile) -> Iterator[PatternPlace]:
    names: dict[int, list[int]] = {}
    for place, symbol in seen.functions:
        if re.match(r"operator\W", symbol.name) and _NOT_WRITTEN.isdisjoint(symbol.modifiers):
            names.setdefault(symbol.parent, []).append(place)
    for parent, places in names.items():
        said = ", ".join(dict.fromkeys(seen.symbols[one].name.removeprefix("operator").strip() for one in places))
        yield PatternPlace(
            seen.symbols[places[0]].line,
            parent if parent >= 0 and seen.symbols[parent].kind != Kind.NAMESPACE else -1,
            "",
            said,
        )


def _lazy_statics(seen: PatternFile) -> Iterator[PatternPlace]:
    """Yield functions that return a static local variable of the type they return."""
    if "static" not in seen.slashed:
        return
    for place, symbol in seen.functions:
        made = None if symbol.declaration else _STATIC.match(symbol.returns or symbol.signature)
        if made and symbol.end_line - symbol.start_line < 15:
            body = seen.body(symbol)
            body = body.partition("{")[2] if len(body) <= _SHORT else ""
            kept = (
                re.compile(
                    rf"\bstatic\s+(?:const\s+)?(?:[\w:]+::)?{re.escape(made[1].rpartition('::')[2])}\b\s*[*&]?\s*(\w+)\s*[;({{=]"
                    r".*?\breturn\s+[*&]?\1;",
                    re.S,
                )
                if "static" in body
                else None
            )
            if kept is not None and kept.search(body):
                yield seen.shown(place)


def _x_macros(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in enumerate(seen.symbols):
        if symbol.kind == Kind.MACRO and re.search(
            r"\w\((?:_|X|_\w|F|DO|OP|M|macro|FN)(?:,[^)]*)?\)$", symbol.signature
        ):
            first = re.search(r"\((\w+)", symbol.signature)
            calls = re.findall(rf"\b{first[1]}\s*\(", seen.body(symbol)) if first else ()
            if len(calls) > 1:
                yield seen.shown(place, f"{len(calls)} entries")


def _extern(seen: PatternFile) -> Iterator[PatternPlace]:
    return (PatternPlace(line, -1, 'extern "C"') for line, _ in seen.found(_EXTERN, seen.slashed, '"C"'))


def _asserts(seen: PatternFile) -> Iterator[PatternPlace]:
    for line, _ in seen.found(_ASSERTS, seen.slashed, "static_assert"):
        yield PatternPlace(line, seen.around(line), "" if seen.around(line) >= 0 else "static_assert")


def _features(seen: PatternFile) -> Iterator[PatternPlace]:
    """Yield the macros that enable parts of the code, except the include guard."""
    had = {match[1] for _, match in seen.found(_GUARD, seen.slashed, "ifndef")}
    for line, match in seen.found(_FEATURE, seen.slashed, *_IF):
        for word in _WORD.findall(match[1].partition("//")[0]):
            if word not in had and word != "__cplusplus":
                had.add(word)
                yield PatternPlace(line, -1, word)


def _suites(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.functions:
        if re.match(r"(?:TYPED_)?TEST_P\(|TYPED_TEST\w*\(", symbol.name):
            yield seen.shown(place)


def _fixtures(seen: PatternFile) -> Iterator[PatternPlace]:
    for place, symbol in seen.classes:
        if any(re.search(r"::Test(?:WithParam\b.*)?$", base) for base in symbol.bases):
            yield seen.shown(place)


_Row = tuple[str, Callable[[PatternFile], Iterator[PatternPlace]]]
_C: tuple[_Row, ...] = (
    ("Include guard", _guard), ("Registration macros", _registered), ("X-macro", _x_macros),
    ("Parallel loops", _parallel), ("C linkage", _extern), ("Conditional compilation", _features),
)  # fmt: skip
_CPP: tuple[_Row, ...] = (
    ("Include guard", _guard),
    ("Registration macros", _registered),
    ("Dispatch stubs", _stubs),
    ("Dispatch on element type", _type_dispatch),
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
