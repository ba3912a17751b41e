"""Name resolver for languages with simple module rules: Java, Go, Rust, JavaScript, TypeScript, build and shell files.

In: a file's flow. Out: `NameTarget` rows: names found by scope, through imports, and among the files of one package;
members of files, of classes (through their bases), and of names with a declared type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from concordance.base.kinds import CLOSURE, FUNCTION_KINDS, INLINE_MODULE, WHOLE_MODULE
from concordance.base.model import TYPE_KINDS, Import, Kind, Op, SymbolRelation, Trust, unpack_column
from concordance.link.language_linker import LanguageLinker
from concordance.link.solver import Solver
from concordance.link.world import LinkWorld, LoadedFlow, LoadedSymbol, NameTarget

PackageKey = Callable[[str], str]  # what the folders of one package have in common
_MAX_SAME_NAME = 1000  # macros or methods of one name that are looked at
_MAX_ANCESTORS = 24  # ancestors of a class that are searched
# kinds of questions: an expression's target, its type, a file's export, a class's bases, what is called, an import's
# target
_PLACE, _TYPE, _EXPORTED, _BASES, _CALLED, _IMPORTED = range(6)
_Question = tuple[int, LoadedFlow, Any]
_FOLLOWED_OPS = frozenset((Op.LOOKUP, Op.IMPORT, Op.PACKAGE, Op.MEMBER))
# Files of Go that are compiled only for some systems or processors: of a name that several define, readers mostly want
# that of Linux on the most common processor.
_ELSEWHERE = re.compile(
    r"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|netbsd|openbsd|plan9|solaris|wasip1|windows|386|arm|"
    r"arm64|loong64|mips\w*|ppc\w*|riscv64|s390x|wasm)(?:_amd64)?(?:_test)?\.go\Z"
)
_PARTS = re.compile(r"[/.:]+")
_NAMED_TYPES = TYPE_KINDS | {Kind.TYPE}  # in Go, any named type has methods
_HOLDERS = frozenset((Kind.VARIABLE, Kind.CONSTANT, Kind.FIELD))
# Methods of Rust's standard library: those that take the element out of an `Option` or `Result`, those that return one
# with the same element, and those that return the value itself.
_TAKES_OUT = frozenset(("unwrap", "expect", "unwrap_or", "unwrap_or_else", "unwrap_or_default", "flatten"))
_KEEPS_LAYER = frozenset(
    ("as_ref", "as_mut", "as_deref", "as_deref_mut", "ok", "ok_or", "ok_or_else", "map_err", "clone", "take",
     "or_else", "context", "with_context", "iter", "iter_mut", "into_iter", "drain", "rev", "skip", "filter", "cloned",
     "copied", "peekable", "get", "get_mut", "first", "first_mut", "last", "last_mut", "pop", "pop_front", "pop_back",
     "next", "next_back", "peek", "nth", "find", "step_by", "skip_while", "take_while", "fuse", "by_ref", "to_vec",
     "min_by_key", "max_by_key", "inspect", "or", "remove", "swap_remove", "to_owned", "borrow", "borrow_mut")
)  # fmt: skip
_KEEPS = frozenset(
    ("clone", "to_owned", "as_ref", "as_mut", "borrow", "borrow_mut", "by_ref", "deref", "deref_mut", "into_inner")
)
_WRAPS = frozenset(("lock", "try_lock", "get_mut"))  # of a `Mutex`, whose element has the methods that are called


class _ValueType(NamedTuple):
    """The class of a value."""

    type: LoadedSymbol
    layers: int = 0  # built-in types around it that something has to take it out of: Option, Result, Promise
    also: tuple[LoadedSymbol, ...] = ()  # further types whose members it has: the other bounds of a type parameter


class SimpleResolver(LanguageLinker):
    """Links files of one language or family."""

    def __init__(
        self, world: LinkWorld, languages: tuple[str, ...], package: PackageKey | None = None, whole: bool = False,
        macros: Callable[[str, str], bool] | None = None, modules: Callable[[str, str], str] | None = None,
        crate: Callable[[str], str] | None = None,
    ) -> None:  # fmt: skip
        """`package`: files of folders with an equal result see one another's names; `whole`: an import makes all of a
        file visible. Only in Rust: `macros`: True if a file may use the macros of another, by their paths; `modules`:
        the file of the module that a path in a file starts at, by its first name; `crate`: what the paths of files of
        one crate have in common."""
        super().__init__(world)
        self.languages, self.whole = languages, whole
        self.macros, self._modules, self._crate = macros, modules, crate
        self._macros_by_name: dict[str, list[LoadedSymbol]] | None = None
        self._package = package
        self._packages: dict[str, list[int]] = {}
        for number, row in enumerate(world.files if package is not None else ()):
            if row.language in languages and row.size and package is not None:
                self._packages.setdefault(package(row.path.rpartition("/")[0]), []).append(number)
        self._answers: dict[_Question, Any] = {}
        self._evaluators: tuple[Callable[[LoadedFlow, Any], Any], ...] = (
            self._find_place, self._find_type, self._find_exported, self._find_bases, self._find_called,
            self._find_import_target,
        )  # fmt: skip
        self._solver: Solver[_Question, Any] = Solver(
            lambda question: self._evaluators[question[0]](*question[1:]), self._answers.__setitem__, None,
            lambda old, new: old or new,
        )  # fmt: skip
        self._detached_by_file: dict[int, dict[tuple[str, str], int]] = {}

    # --- results

    def resolve_file(self, file: LoadedFlow) -> list[NameTarget]:
        """Return the targets of a file's expressions."""
        rows = []
        for use in sorted(set(unpack_column(file.flow.used))):
            op = file.op[use]
            if op == Op.UNKNOWN:
                continue
            if op == Op.CALL:  # a name and its call are one expression
                op, called = file.op[file.left[use]], self._callees(file, use)
                if len(called) > 1:
                    by = f"one of {len(called)} overloads"
                    rows += [NameTarget(use, pair.id, Trust.UNIQUE_NAME, by) for pair in called]
                    continue
                place = called[0] if called else None
            else:
                place = self.place(file, use)
            if place is None or (place.is_file and self._is_whole_package(file, place)):
                continue
            inside = place.file.number == file.number and op in (Op.NAME, Op.SYMBOL)
            trust = Trust.EXACT if inside or (op == Op.MEMBER and not place.is_file) else Trust.VIA_IMPORT
            rule = "scope" if inside else "member" if op == Op.MEMBER else "package" if op == Op.LOOKUP else "import"
            rows.append(NameTarget(use, place.id, trust, rule))
        return rows

    def _is_whole_package(self, file: LoadedFlow, place: LoadedSymbol) -> bool:
        """True if a file stands for a package of several files, which is none of them, to use what is in it."""
        if self._package is None:
            return False
        imports, path = file.flow.imports, place.file.path
        return any(
            len(target.paths) > 1 and target.paths[0] == path and row.alias != "_"
            for row, target in zip(imports, self.world.targets(file), strict=False)
        )

    def needed(self, file: LoadedFlow, targets: set[int]) -> set[int]:
        """Return those targets of a file's names whose files the file needs.

        In Rust, a path also names the modules on the way to what it leads to, which the file need not need.
        """
        if self._modules is None:
            return targets
        return {target for target in targets if self._is_needed(file, target)}

    def _is_needed(self, file: LoadedFlow, target: int) -> bool:
        other, symbol = self.world.owner(target)
        if other.number == file.number:
            return True
        if symbol >= 0:
            return other.kind(symbol) != Kind.NAMESPACE
        return any(other.path in imported.paths for imported in self.world.targets(file))

    def bases(self, file: LoadedFlow, symbol: int) -> Sequence[int]:
        """Return the ids of a class's bases."""
        return self._ask((_BASES, file, symbol)) or ()

    def _ask(self, question: _Question) -> Any:
        return self._answers[question] if question in self._answers else self._solver.ask(question)

    def _find_bases(self, file: LoadedFlow, symbol: int) -> tuple[int, ...]:
        places = [self.place(file, value) for value in file.related_expressions(symbol, SymbolRelation.BASE)]
        return tuple(p.id for p in places if p is not None and p != (file, symbol))

    # --- targets of expressions

    def place(self, file: LoadedFlow, expression: int) -> LoadedSymbol | None:
        """Return the target of an expression."""
        op, left = file.op[expression], file.left[expression]
        if op == Op.SYMBOL:
            return LoadedSymbol(file, left)
        if op == Op.NAME:
            return self._variable(file, left)
        place: LoadedSymbol | None = self._ask((_PLACE, file, expression)) if op in _FOLLOWED_OPS else None
        return place

    def _find_place(self, file: LoadedFlow, expression: int) -> LoadedSymbol | None:
        op, left, right = file.op[expression], file.left[expression], file.right[expression]
        if op == Op.LOOKUP:
            name = file.names[left]
            if right and self.macros:
                return self._macro(file, name)
            return (self._inherited(file, right, name) if right else None) or self._look_up_outside(file, name)
        if op == Op.MEMBER:
            return self._member(file, left, file.names[right])
        return self._import_target(file, left)

    def _callees(self, file: LoadedFlow, call: int) -> tuple[LoadedSymbol, ...]:
        """Return what a call calls; several if its number of arguments fits several overloads."""
        return self._ask((_CALLED, file, call)) or ()

    def _find_called(self, file: LoadedFlow, call: int) -> tuple[LoadedSymbol, ...]:
        called = file.left[call]
        if file.op[called] == Op.MEMBER:
            place = self._member(file, file.left[called], file.names[file.right[called]], is_called=True)
        else:
            place = self.place(file, called)
        if place is None or place.is_file or not place.file.flow.symbol_arity:
            return (place,) if place is not None else ()
        other, symbol = place
        overloads = other.members[other.symbol_parent[symbol] - 1][other.symbol_name[symbol]]
        count = file.right[call] - 1
        fit = [overload for overload in overloads if other.arity[overload] & 255 <= count <= other.arity[overload] >> 8]
        return tuple(LoadedSymbol(other, one) for one in fit if other.kind(one) in FUNCTION_KINDS) or (place,)

    def _variable(self, file: LoadedFlow, variable: int) -> LoadedSymbol | None:
        symbol = file.variable_symbol[variable]
        if symbol:
            return LoadedSymbol(file, symbol - 1)
        for value in file.values[variable]:
            if file.op[value] in (Op.IMPORT, Op.PACKAGE):
                return self._import_target(file, file.left[value])
            if file.op[value] == Op.SYMBOL:
                return LoadedSymbol(file, file.left[value])
        return None

    def _files(self, file: LoadedFlow, place: int) -> list[LoadedFlow]:
        """Return the files that an import resolves to."""
        targets = self.world.targets(file)
        numbers = self.world.number
        return [self.world.load(numbers[path]) for path in targets[place].paths if path in numbers] if targets else []

    def _import_target(self, file: LoadedFlow, place: int) -> LoadedSymbol | None:
        target: LoadedSymbol | None = self._ask((_IMPORTED, file, place))
        return target

    def _find_import_target(self, file: LoadedFlow, place: int) -> LoadedSymbol | None:
        row: Import = file.flow.imports[place]
        files = self._files(file, place)
        if not row.name or row.name == "*":
            whole = self._whole_module(files[0]) if files and row.form == "require" else None
            return whole or (LoadedSymbol(files[0], -1) if files else None)
        if self._modules is not None:
            return self._path_target(files, [*row.module.split("::"), row.name])
        owner = row.module.rpartition(".")[2]  # in Java, the class around what is imported
        for other in files:
            target = self._exported(other, row.name)
            if target is None and owner and (outer := self._top_level_symbol(other, owner)) is not None:
                target = self._member_of(outer, row.name)
            if target is not None:
                return target
        return (self._whole_module(files[0]) or LoadedSymbol(files[0], -1)) if files and row.name == "default" else None

    def _whole_module(self, file: LoadedFlow) -> LoadedSymbol | None:
        """Return what a CommonJS module is, if it is a definition: `module.exports = function …`, `… = name`."""
        place: LoadedSymbol | None = self._ask((_EXPORTED, file, WHOLE_MODULE))
        return place

    def _path_target(self, files: list[LoadedFlow], parts: list[str]) -> LoadedSymbol | None:
        """Return the target of a path of Rust whose first parts lead to a file; how many these are is not known."""
        for file in files:
            for start in range(len(parts)):
                place = self._exported(file, parts[start])
                for part in parts[start + 1 :]:
                    place = self._member_named(place, part) if place is not None else None
                if place is not None:
                    return place
            if f"/{file.path}".endswith((f"/{parts[-1]}.rs", f"/{parts[-1]}/mod.rs")):
                return LoadedSymbol(file, -1)  # use crate::module
        return None

    def _member_named(self, place: LoadedSymbol, name: str) -> LoadedSymbol | None:
        """Return the member of this name in a module, a type or a file."""
        if place.is_file:
            return self._exported(place.file, name)
        return self._member_of(place, name) or self._in_module(place, name)

    def _exported(self, file: LoadedFlow, name: str) -> LoadedSymbol | None:
        """Return what a file exports under a name: its own symbol, or one that it re-exports."""
        own = self._top_level_symbol(file, name)
        target: LoadedSymbol | None = own if own is not None else self._ask((_EXPORTED, file, name))
        return target

    def _find_exported(self, file: LoadedFlow, name: str) -> LoadedSymbol | None:
        if name == WHOLE_MODULE:
            return self._find_whole_module(file)
        for place, row in enumerate(file.flow.imports):
            if row.form == "export" and name == (row.alias or row.name or row.module.rpartition("::")[2]):
                return self._import_target(file, place)
            if row.name == "*" and row.form == "export":
                for other in self._files(file, place):
                    target = self._exported(other, name) if other.number != file.number else None
                    if target is not None:
                        return target
        return self._passed_on(file, name)

    def _find_whole_module(self, file: LoadedFlow) -> LoadedSymbol | None:
        word = file.name_index.get(WHOLE_MODULE)
        variable = file.variables.get((0, word)) if word is not None else None
        if variable is not None:
            places = (self.place(file, value) for value in file.values[variable])
            return next((place for place in places if place is not None and not place.is_file), None)
        passed_on = [n for n, row in enumerate(file.flow.imports) if row.name == "*" and row.form == "export"]
        files = self._files(file, passed_on[0]) if len(passed_on) == 1 else []  # module.exports = require('./a')
        return self._whole_module(files[0]) if files and files[0].number != file.number else None

    def _passed_on(self, file: LoadedFlow, name: str) -> LoadedSymbol | None:
        """Return what a file exports that it imports or calls otherwise: `import * as z …; export { z, a as b }`."""
        word = file.name_index.get(name)
        if word is None or name not in (file.flow.exports or ()) or (0, word) not in file.variables:
            return None
        places = (self.place(file, value) for value in file.values[file.variables[0, word]])
        return next((place for place in places if place is not None), None)

    def _top_level_symbol(self, file: LoadedFlow, name: str) -> LoadedSymbol | None:
        """Return the symbol of a name at the top level of a file, or directly in one of its namespaces."""
        word = file.name_index.get(name)
        if word is None:
            return None
        candidates = [s for s in file.members.get(-1, {}).get(word, ()) if file.kind(s) != Kind.METHOD]
        if candidates:
            return LoadedSymbol(file, candidates[0])
        for symbol in (s for symbols in file.members.get(-1, {}).values() for s in symbols):
            if file.kind(symbol) == Kind.NAMESPACE and word in file.members.get(symbol, {}):
                return LoadedSymbol(file, file.members[symbol][word][0])
        return None

    def _macro(self, file: LoadedFlow, name: str) -> LoadedSymbol | None:
        """Return the macro of a name that no other has: macros are seen by the order of text, not by imports.

        One that is defined inside a module is not seen outside of it.
        """
        named = self._macros_named(name, file.language)
        places = [place for place in named if place.file is file or not place.file.symbol_parent[place.symbol]]
        seen = [place for place in places if self.macros is not None and self.macros(file.path, place.file.path)]
        imported = (n for n, row in enumerate(file.flow.imports) if name == (row.alias or row.name))
        crates = [other for n in imported for other in self._files(file, n)] if not seen else []
        exported = next((place for place in (self._exported_macro(crate, name) for crate in crates) if place), None)
        return seen[0] if len(seen) == 1 else exported or self._look_up_outside(file, name)

    def _exported_macro(self, file: LoadedFlow, name: str) -> LoadedSymbol | None:
        """Return the macro of a name that the crate of a file has, if it is one: exported macros are at its root."""
        if self._crate is None:
            return None
        crate = self._crate(file.path)
        named = [place for place in self._macros_named(name, file.language) if self._crate(place.file.path) == crate]
        return named[0] if len(named) == 1 and not named[0].file.symbol_parent[named[0].symbol] else None

    def _macros_named(self, name: str, language: str) -> list[LoadedSymbol]:
        by_name = self.world.symbols_by_name
        if by_name is not None:
            return [self.world.owner(identity) for identity in by_name(name, language, (Kind.MACRO,), _MAX_SAME_NAME)]
        if self._macros_by_name is None:
            self._macros_by_name = {}
            for number, row in enumerate(self.world.files):
                file = self.world.load(number) if row.language in self.languages and row.size else None
                for symbol in range(len(file.symbol_kind)) if file is not None else ():
                    if file is not None and file.kind(symbol) == Kind.MACRO:
                        self._macros_by_name.setdefault(file.names[file.symbol_name[symbol]], []).append(
                            LoadedSymbol(file, symbol)
                        )
        return self._macros_by_name.get(name, [])

    def _inherited(self, file: LoadedFlow, scope: int, name: str) -> LoadedSymbol | None:
        """Return the member that a bare name refers to: one of the classes around it, or of their bases."""
        while scope > 0:
            symbol = file.scope_symbol[scope] - 1
            if symbol >= 0 and file.kind(symbol) in TYPE_KINDS:
                member = self._first_member(self._with_ancestors(LoadedSymbol(file, symbol)), name)
                if member is not None:
                    return member
            scope = file.scope_parent[scope] - 1
        return None

    def _look_up_outside(self, file: LoadedFlow, name: str) -> LoadedSymbol | None:
        """Resolve a name that the file does not bind: in the same package, or in a file that is imported as a whole."""
        for number in self._package_of(file)[1:]:
            target = self._top_level_symbol(self.world.load(number), name)
            if target is not None and target.kind != Kind.NAMESPACE:  # the clause that names the package
                return target
        for place, row in enumerate(file.flow.imports):
            if row.name not in ("", "*"):
                continue
            if not row.name and not row.alias and self._is_named(file, place, name):
                return self._import_target(file, place)
            for other in self._files(file, place) if self.whole or row.name == "*" else ():
                if other.language in self.languages:
                    target = self._all_of(file, other, row, name)
                    if target is not None:
                        return target
        path = self._modules(file.path, name) if self._modules is not None else ""
        return LoadedSymbol(self.world.load(self.world.number[path]), -1) if path in self.world.number else None

    def _is_named(self, file: LoadedFlow, place: int, name: str) -> bool:
        """True if an import without alias binds a name: in Go, that of the package clause, or the end of its path."""
        if _PARTS.split(file.flow.imports[place].module)[-1] == name:
            return True
        first = self._files(file, place)[:1] if self._package is not None else []
        return any(name in self._namespaces(other) for other in first)

    def _namespaces(self, file: LoadedFlow) -> set[str]:
        symbols = file.members.get(-1, {})
        return {file.names[word] for word in symbols if file.kind(symbols[word][0]) == Kind.NAMESPACE}

    def _all_of(self, file: LoadedFlow, other: LoadedFlow, row: Import, name: str) -> LoadedSymbol | None:
        """Return what an import of everything brings in under a name; in Rust, it may be of a module or an enum."""
        if self._modules is None:
            return self._top_level_symbol(other, name)
        owner = self._path_target([other], row.module.split("::"))
        if owner is not None and not owner.is_file:
            return self._member_named(owner, name)
        return self._exported(other, name) if other.number != file.number else None

    def _member(self, file: LoadedFlow, receiver: int, name: str, is_called: bool = False) -> LoadedSymbol | None:
        if file.op[receiver] == Op.SUPER:
            return self._first_member(self._with_ancestors(LoadedSymbol(file, file.left[receiver] - 1))[1:], name)
        place = self.place(file, receiver)
        if place is not None and place.is_file:
            if name == "super" and self._modules is not None:
                path = self._modules(place.file.path, name)
                return LoadedSymbol(self.world.load(self.world.number[path]), -1) if path in self.world.number else None
            for number in self._package_of(place.file):
                target = self._exported(self.world.load(number), name)
                if target is not None:
                    return target
            return None
        if place is not None and place.kind in _HOLDERS:
            target = self._member_of_object(place, name)
            if target is not None:
                return target
        if place is None or place.kind not in _NAMED_TYPES:
            if place is not None and place.kind == Kind.NAMESPACE:
                return self._member_of(place, name) or self._in_module(place, name)
            if place is not None and place.kind == Kind.ENUMERATOR:  # a field of a variant
                return self._member_of(place, name)
            if place is not None and place == self._whole_module(place.file):
                return self._member_of(place, name) or self._exported(place.file, name)
            value, kinds = self._value(file, receiver), FUNCTION_KINDS if is_called else _HOLDERS
        else:
            value, kinds = self._aliased(place), FUNCTION_KINDS
        if value is None or value.layers:
            return None
        kinds = (
            kinds if self._modules is not None else frozenset()
        )  # only in Rust may a method have the name of a field
        places = (self._first_member(self._with_ancestors(pair), name, kinds) for pair in (value.type, *value.also))
        return next((candidate for candidate in places if candidate is not None), None)

    def _member_of_object(self, place: LoadedSymbol, name: str) -> LoadedSymbol | None:
        """Return the member of an object that its literal lists: a method, or what a name in it refers to."""
        file, symbol = place
        word = file.name_index.get(name)
        inside = file.members.get(symbol, {}).get(word) if word is not None else None
        if inside:
            return LoadedSymbol(file, inside[0])
        named = file.name_index.get(f"{file.names[file.symbol_name[symbol]]}.{name}")
        variable = file.variables.get((0, named)) if named is not None else None
        values = file.values[variable] if variable is not None else ()
        return next((member for member in (self.place(file, value) for value in values) if member is not None), None)

    def _in_module(self, place: LoadedSymbol, name: str) -> LoadedSymbol | None:
        """Return a member of a module of Rust that one file declares and another contains, or that a module imports."""
        file, symbol = place
        own = file.names[file.symbol_name[symbol]]
        for n, row in enumerate(file.flow.imports):
            if row.form == "mod" and row.module.rpartition("::")[2] == own:
                for other in self._files(file, n):
                    return self._exported(other, name)
            is_inside = row.form.startswith(INLINE_MODULE) and re.split("::| ", row.form)[-1] == own
            if is_inside and name == (row.alias or row.name or row.module.rpartition("::")[2]):
                return self._import_target(file, n)
        return None

    def _package_of(self, file: LoadedFlow) -> list[int]:
        """Return a file's own number, then those of the other files of its package."""
        folder = file.path.rpartition("/")[0]
        files = self._packages.get(self._package(folder), ()) if self._package is not None else ()
        rest = [number for number in files if number != file.number]
        here = [number for number in rest if self.world.files[number].path.rpartition("/")[0] == folder]
        here.sort(key=lambda number: _ELSEWHERE.search(self.world.files[number].path) is not None)
        return [file.number, *here, *(number for number in rest if number not in set(here))]

    def _member_of(self, place: LoadedSymbol, name: str, kinds: frozenset[Kind] = frozenset()) -> LoadedSymbol | None:
        """Return a member of a class; of several, one of the given kinds."""
        file, symbol = place
        word = file.name_index.get(name)
        members = file.members.get(symbol, {}).get(word) if word is not None else None
        if members:
            return LoadedSymbol(file, next((member for member in members if file.kind(member) in kinds), members[0]))
        owner = file.names[file.symbol_name[symbol]]
        for number in self._package_of(file)[1:]:  # a method may be in another file of the package
            other = self.world.load(number)
            there = self._detached_methods(other).get((owner, name))
            if there is not None:
                return LoadedSymbol(other, there)
        return self._detached_in_crate(file, owner, name) if self._crate is not None else None

    def _detached_in_crate(self, file: LoadedFlow, owner: str, name: str) -> LoadedSymbol | None:
        """Return a method that another file of the crate implements for a type, if one does."""
        if self._crate is None or not owner:
            return None
        crate, by_name = self._crate(file.path), self.world.symbols_by_name
        if by_name is not None:
            named = by_name(name, file.language, (Kind.METHOD,), _MAX_SAME_NAME)
            numbers = sorted({self.world.file_number(identity) for identity in named})
        else:
            numbers = self._detached_names.get((owner, name), [])
        place: LoadedSymbol | None = None
        for number in numbers:
            if number != file.number and self._crate(self.world.files[number].path) == crate:
                other = self.world.load(number)
                there = self._detached_methods(other).get((owner, name))
                if there is not None and place is not None:
                    return None
                place = LoadedSymbol(other, there) if there is not None else place
        return place

    @cached_property
    def _detached_names(self) -> dict[tuple[str, str], list[int]]:
        """The files that define methods of classes of other files, by the class's name and the method's."""
        names: dict[tuple[str, str], list[int]] = {}
        for number, row in enumerate(self.world.files):
            if row.language in self.languages and row.size:
                for key in self._detached_methods(self.world.load(number)):
                    names.setdefault(key, []).append(number)
        return names

    def _detached_methods(self, file: LoadedFlow) -> dict[tuple[str, str], int]:
        """Return the methods in a file whose class is in another file, by the class's name and their own."""
        if file.number not in self._detached_by_file:
            within = unpack_column(file.flow.symbol_within) if file.flow.symbol_within else ()
            self._detached_by_file[file.number] = {
                (file.names[owner - 1], file.names[file.symbol_name[symbol]]): symbol
                for symbol, owner in enumerate(within) if owner
            }  # fmt: skip
        return self._detached_by_file[file.number]

    def _first_member(
        self, classes: list[LoadedSymbol], name: str, kinds: frozenset[Kind] = frozenset()
    ) -> LoadedSymbol | None:
        """Return the member of the first class that has it, by preference one of the given kinds."""
        places = [place for place in (self._member_of(pair, name, kinds) for pair in classes) if place is not None]
        return next((place for place in places if place.kind in kinds), places[0] if places else None)

    def _with_ancestors(self, place: LoadedSymbol) -> list[LoadedSymbol]:
        """Return a class and its ancestors."""
        ancestors, seen = [place], {place.id}
        for file, symbol in ancestors:
            for identity in self.bases(file, symbol) if symbol >= 0 and len(ancestors) < _MAX_ANCESTORS else ():
                if identity not in seen:
                    seen.add(identity)
                    ancestors.append(self.world.owner(identity))
        return ancestors

    # --- types of values

    def type(self, file: LoadedFlow, expression: int) -> LoadedSymbol | None:
        """Return the class of an expression's value, if it is written or follows from what is called."""
        type_ = self._value(file, expression)
        return type_.type if type_ is not None and not type_.layers else None

    def _value(self, file: LoadedFlow, expression: int) -> _ValueType | None:
        value: _ValueType | None = self._ask((_TYPE, file, expression)) if expression else None
        return value

    def _find_type(self, file: LoadedFlow, expression: int) -> _ValueType | None:
        op, left, right = file.op[expression], file.left[expression], file.right[expression]
        if op == Op.OF_TYPE:
            type_ = self._class(self.place(file, left))
            return self._aliased(type_) if type_ is not None else self._bounds(file, left)
        if op == Op.EACH:
            return self._element(self._value(file, left))
        if op == Op.LITERAL and file.names[left] == CLOSURE:
            return None
        if op in (Op.LITERAL, Op.ITEM):
            inner = self._value(file, right - 1 if op == Op.LITERAL else left)
            layers = inner.layers + (1 if op == Op.LITERAL else -1) if inner is not None else -1
            return inner._replace(layers=layers) if inner is not None and layers >= 0 else None
        if op == Op.CALL:
            return self._result(file, expression)
        if op == Op.PART:
            return self._part(file, left, right - 1) if left else None
        if op == Op.PAIR and self._modules is None:  # of several results in Go, the first
            return self._value(file, left)
        if op == Op.NAME:
            return self._common_type(file, file.values[left])
        place = self.place(file, expression)
        return (
            self._common_type(place.file, self._values_of(place)) if place is not None and not place.is_file else None
        )

    def _aliased(self, place: LoadedSymbol) -> _ValueType | None:
        """Return the type that a class or an alias of a type stands for."""
        file, symbol = place
        if file.kind(symbol) == Kind.TYPE:
            for value in file.related_expressions(symbol, SymbolRelation.TYPE):
                return self._value(file, value)
        return _ValueType(place)

    def _bounds(self, file: LoadedFlow, expression: int) -> _ValueType | None:
        """Return the traits that a type parameter is bound by."""
        values = file.values[file.left[expression]] if file.op[expression] == Op.NAME else ()
        bounds = [self._value(file, value) for value in values if file.op[value] == Op.OF_TYPE and value != expression]
        types = [value.type for value in bounds if value is not None and not value.layers]
        return _ValueType(types[0], also=tuple(types[1:])) if types else None

    def _element(self, value: _ValueType | None) -> _ValueType | None:
        """Return the type of the elements of what is iterated over: of a list, or of a type with an `Item`."""
        if value is None or value.layers:
            return value._replace(layers=value.layers - 1) if value is not None else None
        item = self._first_member(self._with_ancestors(value.type), "Item")
        return self._aliased(item) if item is not None and item.kind == Kind.TYPE else None

    def _part(self, file: LoadedFlow, expression: int, number: int) -> _ValueType | None:
        """Return the type of a field of a tuple struct or a variant, or of a part of the tuple that a call returns."""
        called = file.op[expression] == Op.CALL
        if called and file.right[expression]:
            places = self._callees(file, expression)
            place = places[0] if len(places) == 1 else None
        else:
            place = self.place(file, file.left[expression] if called else expression)
        if place is None or place.is_file or place.kind == Kind.TYPE:
            return None
        types = place.file.related_expressions(place.symbol, SymbolRelation.RETURNS if called else SymbolRelation.TYPE)
        if called:
            types = _parts_of_tuple(place.file, types[0]) if types else []
        return self._value(place.file, types[number]) if number < len(types) else None

    def _values_of(self, place: LoadedSymbol) -> list[int]:
        """Return the values of a field or variable."""
        file, symbol = place
        parent = file.symbol_parent[symbol] - 1
        while parent >= 0 and parent not in file.scope_of_symbol:  # a variant opens no scope
            parent = file.symbol_parent[parent] - 1
        scope = file.scope_of_symbol.get(parent, 0) if parent >= 0 else 0
        variable = file.variables.get((scope, file.symbol_name[symbol]))
        return file.values[variable] if variable is not None else []

    def _common_type(self, file: LoadedFlow, values: list[int]) -> _ValueType | None:
        """Return the type of a variable; in Rust, where a name may be bound again, only if all values have the same."""
        common = None
        for value in values:
            value_type = self._value(file, value)
            if self._modules is not None and (value_type is None or value_type != (common or value_type)):
                return None
            common = common or value_type
            if common is not None and self._modules is None:
                return common
        return common

    def _result(self, file: LoadedFlow, call: int) -> _ValueType | None:
        """Return the type of what a call returns; of overloads, only if all return the same."""
        called = file.left[call]
        if file.right[call]:
            types = {self._returned(file, called, place) for place in self._callees(file, call)}
            return types.pop() if len(types) == 1 else None if types else self._returned(file, called, None)
        return self._returned(file, called, self.place(file, called))

    def _returned(self, file: LoadedFlow, called: int, place: LoadedSymbol | None) -> _ValueType | None:
        """Return the type of what a function returns that is called by an expression."""
        if place is None and file.op[called] == Op.NAME:  # a closure
            bodies = [v for v in file.values[file.left[called]] if file.op[v] == Op.LITERAL and file.right[v]]
            named = [file.right[v] - 1 for v in bodies if file.names[file.left[v]] == CLOSURE]
            return self._value(file, named[0]) if len(named) == 1 else None
        if place is None or place.is_file:
            return self._result_of_built_in(file, called)
        other, symbol = place
        kind = other.kind(symbol)
        if kind in _NAMED_TYPES:  # a conversion or a constructor
            return self._aliased(place)
        if kind == Kind.ENUMERATOR and other.symbol_parent[symbol]:
            return _ValueType(LoadedSymbol(other, other.symbol_parent[symbol] - 1))
        for value in other.related_expressions(symbol, SymbolRelation.RETURNS):
            return self._value(other, value)
        if kind in _HOLDERS:  # const string = ZodString.create
            aliases = [value for value in self._values_of(place) if other.op[value] in _FOLLOWED_OPS | {Op.NAME}]
            if len(aliases) == 1 and aliases[0] != called:
                return self._returned(other, aliases[0], self.place(other, aliases[0]))
        return None

    def _result_of_built_in(self, file: LoadedFlow, called: int) -> _ValueType | None:
        """Return the type of what a method of a built-in type returns, if it is what the value is or contains."""
        if file.op[called] != Op.MEMBER:
            return None
        owner = self.place(file, file.left[called]) if file.names[file.right[called]] == "default" else None
        if owner is not None and not owner.is_file and owner.kind in _NAMED_TYPES:  # Rust's #[derive(Default)]
            return self._aliased(owner)
        name, value = file.names[file.right[called]], self._value(file, file.left[called])
        if value is None:
            return None
        if value.layers and name in _TAKES_OUT:
            return value._replace(layers=value.layers - 1)
        if not value.layers and name in _WRAPS:
            return value._replace(layers=1)
        return value if name in (_KEEPS_LAYER if value.layers else _KEEPS) else None

    def _class(self, place: LoadedSymbol | None) -> LoadedSymbol | None:
        return place if place is not None and not place.is_file and place.kind in _NAMED_TYPES else None


def _parts_of_tuple(file: LoadedFlow, expression: int) -> list[int]:
    """Return the expressions that a tuple is made of."""
    parts = []
    while expression and file.op[expression] == Op.PAIR:
        parts.append(file.left[expression])
        expression = file.right[expression] - 1 if file.right[expression] else 0
    return parts
