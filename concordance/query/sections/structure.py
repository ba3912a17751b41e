"""The structure section of a file: every definition, nested as in the text, with its callees and callers.

In: the model of a file. Out: blocks. A definition with members is a heading or an entry with a list below it; small
definitions without documentation (fields, constants, keys) share a line. Callees are listed one by one. Callers in the
same file are listed one by one, those in other files by file, or, if there are many, as counts by folder, so that
nothing is left out and the page stays readable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeVar

from concordance.base.blocks import (
    Anchor,
    Block,
    Cite,
    Doc,
    Heading,
    Item,
    Items,
    Line,
    Mono,
    Piece,
    Quote,
    Ref,
    Table,
    Text,
    To,
    count_noun,
    join_with_commas,
)
from concordance.base.model import KINDS, TYPE_KINDS, Kind, Symbol, is_overload
from concordance.extract.registry import language_of
from concordance.query.answers import split_key
from concordance.query.index.definition_pages import symbols_with_pages
from concordance.query.index.file_model import CALL, IMPORT, INHERIT, FileModel, UsePair
from concordance.query.index.graphs.bridges import bridges_of
from concordance.query.index.repository import Index
from concordance.query.markup import markdown
from concordance.query.names.display_names import find_public_name
from concordance.query.names.mentions import MentionedNames
from concordance.query.pages import bridge_page
from concordance.query.sections.central_definitions import count_implemented

_Row = TypeVar("_Row")  # a user, or the id of one
_SMALL_KINDS = frozenset(
    (
        Kind.FIELD,
        Kind.VARIABLE,
        Kind.CONSTANT,
        Kind.ENUMERATOR,
        Kind.KEY,
        Kind.LABEL,
        Kind.TYPE,
        Kind.MACRO,
        Kind.TARGET,
    )
)
_PLAIN = frozenset((Kind.HEADING, Kind.KEY, Kind.LABEL, Kind.TARGET))  # not code: nothing calls it
_AROUND = (Kind.NAMESPACE, Kind.MODULE)  # containers that only group others
_INSIDE = 6  # callers in the same file that are listed one by one; each of them lists what it calls
_NAMED_AWAY = 3  # most users in other files that are named
_USERS = {
    "called": " callers",
    "extended": " subclasses",
    "implemented": " types that implement it",
    "embedded": " types that embed it",
    "overridden": " overrides",
    "used": " users",
}
_MAX_FILES = 8  # other files that are listed one by one
_MIN_REPEATED = 80  # characters from which documentation that was already quoted is not quoted again
_FIELD = KINDS.index(Kind.FIELD)
_MAX_SMALL_DEFINITIONS = 4  # small definitions that share a line with a count
_MAX_KEYS = 400  # keys of data up to which all are listed
_CROWDED = 3000  # definitions from which values, and links to lines other than those of types, are left out
_DEEPEST = 16  # levels of nested lists; deeper definitions are listed in a row, as nobody could read more
_NUMBER = re.compile(r"\+\d+(?=\.|$)")  # tells definitions of one name apart
PLURALS = {
    Kind.CLASS: "classes", Kind.PROPERTY: "properties", Kind.TYPE: "type aliases", Kind.OPERATOR: "operators",
}  # fmt: skip


def count_kind(kind: str, number: int) -> str:
    """Return a number of things of a kind: `1 class`, `2 classes`."""
    one = "type alias" if kind == Kind.TYPE else "operator" if kind == Kind.OPERATOR else kind
    return count_noun(number, one, PLURALS.get(Kind(kind), ""))


class Structure:
    """Builds the blocks of one file's definitions."""

    def __init__(self, model: FileModel) -> None:
        self.model, self.path, self.language = model, model.path, model.file.language
        self.named = MentionedNames(model)
        # The keys of data come by the thousand and get no anchors.
        self.plain = language_of(self.language).is_keyed
        self.same_named = _same_named_types(model.symbols)
        self.implementations = _implementations(model.symbols)
        self.crowded = len(model.symbols) > _CROWDED
        self._quoted: dict[str, int] = {}  # the first definition that has each documentation

    def blocks(self) -> list[Block]:
        """Return the blocks of all definitions; of data with very many keys, the outer ones."""
        if self.plain and len(self.model.symbols) > _MAX_KEYS:
            return self._outer_keys()
        return self._below(self.model.children.get(-1, []), 4)

    def _outer_keys(self) -> list[Block]:
        """Return the keys of large data, as many levels as can be read; entries that have a page of their own are
        listed by page."""
        symbols, path = self.model.symbols, self.path
        pages: dict[Ref, list[int]] = {}
        ids = self.model.ids
        targets = {
            (ids.place_of(row.target), row.name)
            for row in bridges_of(self.model.index).out_of(path)
            if row.target in ids and row.target != ids.file
        }
        for place, name in sorted(targets):
            ref = bridge_page(self.model.index, name)
            if ref is not None and place not in pages.setdefault(ref, []):
                pages[ref].append(place)
        depths = [0] * len(symbols)
        for place, symbol in enumerate(symbols):
            depths[place] = depths[symbol.parent] + 1 if symbol.parent >= 0 else 0
        shown, level = Counter(depths), 0
        while level + 1 in shown and sum(shown[one] for one in range(level + 2)) <= _MAX_KEYS:
            level += 1
        if pages:
            rows: list[list[list[Piece]]] = [[[ref], self._entries(places)] for ref, places in pages.items()]
            heading = f"{count_noun(len(symbols), 'key')}; entries with a page of their own:"
            return [Text([heading]), Table(["Page", "Entries"], rows)]
        some = [place for place, depth in enumerate(depths) if depth <= level]
        heading = f"{count_noun(len(symbols), 'key')}, of which the outermost {count_noun(len(some), 'key')}:"
        return [Text([heading]), Text(self._entries(some))]

    def _entries(self, places: Sequence[int]) -> list[Piece]:
        """Return keys with their lines."""
        pieces: list[Piece] = []
        for place in places:
            symbol = self.model.symbols[place]
            inside = len(self.model.children.get(place, ()))
            pieces += [", " if pieces else "", Mono(symbol.name), f" L{symbol.line}", Cite(self.path, symbol.line)]
            pieces += [f" ({count_noun(inside, 'key')})"] if inside and len(places) > 1 else []
        return pieces

    def of(self, place: int) -> list[Block]:
        """Return the blocks of one definition with everything inside of it."""
        return self._below([place], 3)

    def _below(self, places: Sequence[int], level: int) -> list[Block]:
        """Return the blocks of sibling definitions; large ones get headings, down to level six.

        The others come first: below the heading of a class they would look like its members.
        """
        if level > _DEEPEST:
            places = self._inside(places)
        large = [place for place in places if level <= 6 and self._is_large(place)]
        headed = frozenset(large)
        items = [self._item(group, level) for group in self._groups([one for one in places if one not in headed])]
        blocks: list[Block] = [Items(items)] if items else []
        for place, *_ in self._groups(large):
            blocks.append(Heading(level, self._title(place), self.model.symbols[place].key))
            blocks += self._body(place)
            blocks += self._below(self.model.children.get(place, []), level + 1)
        return blocks

    def _inside(self, places: Sequence[int]) -> list[int]:
        """Return the given symbols, each followed by everything inside of it."""
        symbols: list[int] = []
        left = list(reversed(places))
        while left:
            place = left.pop()
            symbols.append(place)
            left += reversed(self.model.children.get(place, []))
        return symbols

    def _groups(self, places: Sequence[int]) -> Iterator[list[int]]:
        """Yield runs of small definitions of one kind as groups, and every other definition by itself."""
        now: list[int] = []
        aliases = self.same_named.values()
        for place in places:
            if place in aliases or self._is_label(place):
                continue
            symbol = self.model.symbols[place]
            small = symbol.kind in _SMALL_KINDS and not symbol.doc and place not in self.model.children
            if now and (not small or symbol.kind != self.model.symbols[now[0]].kind):
                yield now
                now = []
            if small:
                now.append(place)
            else:
                yield [place]
        if now:
            yield now

    def _is_label(self, place: int) -> bool:
        """True for the first key of an entry in a list, if the entry is shown by it: `- name: Windows`."""
        symbol = self.model.symbols[place]
        if symbol.kind != Kind.KEY or symbol.parent < 0 or place in self.model.children:
            return False
        around = self.model.symbols[symbol.parent]
        return (around.line, around.signature) == (symbol.line, symbol.signature)

    def _is_large(self, place: int) -> bool:
        symbol = self.model.symbols[place]
        if symbol.kind in TYPE_KINDS or symbol.kind in _AROUND:
            return place in self.model.children
        return False

    def _item(self, group: list[int], level: int) -> Item:
        if len(group) > 1 or (
            self.model.symbols[group[0]].kind in _SMALL_KINDS and group[0] not in self.model.children
        ):
            return self._together(group)
        place = group[0]
        below: list[Block] = list(self._body(place))
        if level <= _DEEPEST:
            below += self._below(self.model.children.get(place, []), max(7, level + 1))
        return Item(self._title(place), below, "" if self.plain else self.model.symbols[place].key)

    def _together(self, group: list[int]) -> Item:
        """Return an item for small definitions that share a line."""
        kind = self.model.symbols[group[0]].kind
        pieces: list[Piece] = []
        if len(group) >= _MAX_SMALL_DEFINITIONS:
            pieces.append(f"{count_kind(kind, len(group))}: ")
        conditions = {self._condition(place) for place in group}
        for number, place in enumerate(group):
            symbol = self.model.symbols[place]
            pieces.append(", " if number else "")
            if not self.plain:
                pieces.append(Anchor(symbol.key))
            label = symbol.name if self.crowded and len(group) > 1 else _short_signature(symbol)
            pieces += [Mono(label), *self._at(place, len(group) > 1)]
            pieces += _under(self._condition(place)) if len(conditions) > 1 or len(group) == 1 else ()
        if len(conditions) == 1 and len(group) > 1:
            pieces += _under(conditions.pop(), ", all under ")
        blocks: list[Block] = []
        if len(group) == 1 and kind not in _PLAIN:
            blocks += self.words(group[0])
            pieces += self._dotted(self._used_by(group[0]))
        return Item(pieces, blocks)

    def _at(self, place: int, is_among_many: bool = False) -> list[Piece]:
        """Return the line of a definition; without a link for keys, members, and small definitions among many."""
        symbol = self.model.symbols[place]
        if is_among_many or self.plain or self._is_member(symbol) or (self.crowded and not self._is_large(place)):
            return [f" L{symbol.line}", Cite(self.path, symbol.line)]
        return [" ", Line(self.path, symbol.line)]

    def _is_member(self, symbol: Symbol) -> bool:
        """True if it is inside of a type or function, whose line is linked."""
        return symbol.parent >= 0 and self.model.symbols[symbol.parent].kind not in _AROUND

    # --- one definition

    def _title(self, place: int) -> list[Piece]:
        symbol = self.model.symbols[place]
        if symbol.kind == Kind.HEADING:
            return [symbol.name, " ", Line(self.path, symbol.line)]
        label = symbol.signature or symbol.name
        clear = self.plain or "(" in label or label.startswith((symbol.kind, *_WORDS.get(Kind(symbol.kind), ())))
        clear = clear or f"> {symbol.kind} " in label  # after the parameters of a template
        word = "" if clear else f"{symbol.kind} "
        last = symbol.end_line if symbol.end_line > symbol.line else 0
        alias = self.same_named.get(place)
        pieces: list[Piece] = [Anchor(self.model.symbols[alias].key)] if alias is not None else []
        pieces += [word, Mono(_flat(label)), *self._at(place)]
        if last:
            pieces.append(f"–{last}")
        other = self.model.counterparts.get(place, 0)
        if symbol.declaration:
            is_document = language_of(self.language).is_markup
            pieces += [", defined in ", self._file_of(other)] if other else [] if is_document else [", declared here"]
        elif other:
            pieces += [", declared in ", self._file_of(other)]
        return [*pieces, *_under(self._condition(place))]

    def _condition(self, place: int) -> str:
        """Return the branch that a definition is in, unless what contains it is in the same one and says so."""
        symbols = self.model.symbols
        condition, parent = symbols[place].condition, symbols[place].parent
        return "" if parent >= 0 and symbols[parent].condition == condition else _flat(condition)

    def _file_of(self, identity: int) -> Ref:
        ref = self.model.ref(identity)
        return ref._replace(label=ref.path.rpartition("/")[2])

    def _body(self, place: int) -> Iterator[Block]:
        symbol = self.model.symbols[place]
        yield from self.words(place)
        if symbol.kind in _PLAIN or symbol.kind in _AROUND:
            return
        facts = list(self._facts(place))
        if facts:
            cite = Cite(self.path, symbol.start_line, symbol.end_line)
            yield Text(
                [cite, *(piece for number, fact in enumerate(facts) for piece in ([" · ", *fact] if number else fact))]
            )

    def words(self, place: int) -> Iterator[Block]:
        """Yield the author's documentation of a definition, quoted."""
        symbol = self.model.symbols[place]
        if not symbol.doc:
            return
        lines = self.model.lines_of_doc(place)
        cite = [Cite(self.path, *lines)] if lines else []
        first = self._quoted.setdefault(symbol.doc, place)
        if first != place and len(symbol.doc) >= _MIN_REPEATED:
            yield Text(["Same documentation as ", self._named(self.model.ids.id_at(first), place), ".", *cite])
        else:
            link = partial(self.named.ref, documented=place)
            yield Quote([Doc([*cite, *markdown(symbol.doc, self.language, link)])])

    def _facts(self, place: int) -> Iterator[list[Piece]]:
        """Yield what else is known of a definition, each fact in a few pieces."""
        symbol = self.model.symbols[place]
        if symbol.parent < 0 and place not in self.implementations:
            yield from self._imported_as(symbol)
        shown = symbol.signature
        modifiers = [word for word in symbol.modifiers if word not in _OBVIOUS and not shown.endswith(word)]
        if modifiers:
            yield join_with_commas([Mono(modifier) for modifier in modifiers])
        bases = self._bases(place)
        if bases:
            split = len(bases) - count_implemented(symbol)
            for verb, some in ((language_of(self.language).base_verb, bases[:split]), ("implements", bases[split:])):
                if some:
                    yield [f"{verb} ", *join_with_commas(some)]
        over = self._with_overloads(place, self.model.overridden)
        if over:
            yield ["overrides ", *join_with_commas([self.model.ref(identity) for identity in over])]
        under = self._with_overloads(place, self.model.overriding)
        if under:
            yield self._from(place, [UsePair(identity, 0, 0, 1) for identity in under], "overridden")
        ways = self.model.complexity[place] if place < len(self.model.complexity) else 0
        if ways > 5:
            yield [f"complexity {ways}"]
        calls = self._calls(place)
        if calls:
            yield ["calls ", *join_with_commas(calls)]
        yield from self._used_by(place)
        if self.model.index.book.draws_diagrams and place in symbols_with_pages(self.model.index, self.path):
            yield [Ref(To.DEFINITION, self.path, symbol.key, "definition and all uses", False)]

    def _imported_as(self, symbol: Symbol) -> Iterator[list[Piece]]:
        """Yield the public name of a symbol, and the module or document that it comes from."""
        dotted, by = find_public_name(self.model.index, self.path, symbol.key)
        if dotted:
            document = language_of(self.model.index.language_of(by or self.path)).is_markup
            word = ", documented in " if document else " via "
            pieces: list[Piece] = ["imported as ", Mono(dotted)]
            yield [*pieces, word, Ref(To.FILE, by, "", "/".join(by.split("/")[-2:]))] if by else pieces

    def _bases(self, place: int) -> list[Piece]:
        symbol = self.model.symbols[place]
        known = {self.named.last(one): one for one in self.model.bases.get(place, ())}
        pieces: list[Piece] = []
        for base in symbol.bases:
            bare = base.partition("<")[0].partition("[")[0].replace("::", ".").rpartition(".")[2].strip()
            pieces.append(self.model.ref(known[bare])._replace(label=base) if bare in known else Mono(base))
        return pieces

    def _calls(self, place: int) -> list[Piece]:
        symbol, defining = self.model.symbols[place], self.model.symbols[place].name.partition("(")[0]
        used = [use.id for use in self.model.uses.get(place, {}).values() if use.roles & CALL]
        if defining != symbol.name:  # `TEST(suite, name) {…}` does not call the macro that defines it
            used = [use for use in used if self.named.last(use) != defining]
        if used and symbol.parent >= 0 and self.model.symbols[symbol.parent].name == symbol.name:
            kinds = self.model.index.kinds  # a constructor initialises its fields as if it called them
            used = [identity for identity in used if kinds[identity] != _FIELD]
        return _one_by_label(self._named(identity, place) for identity in used)

    def _named(self, identity: int, place: int) -> Ref:
        """Return a link to a definition; one inside of what also contains the definition at `place` is shown without
        the name of that, as in the code there."""
        ref = self.model.ref(identity)
        around, _, name = ref.at.rpartition(".")
        if not around or (ref.path != self.path and not language_of(self.language).has_prototypes):
            return ref
        key = self.model.symbols[place].key
        if "+" in key or "+" in ref.at or "%" in name:
            scope, name = split_key(around), split_key(ref.at)[-1]
            own = split_key(key)
            return ref._replace(label=name) if len(own) > len(scope) and own[: len(scope)] == scope else ref
        return ref._replace(label=name) if key.startswith(f"{around}.") else ref

    def _with_overloads(self, place: int, rows: Mapping[int, Sequence[_Row]]) -> list[_Row]:
        """Return the rows of a definition; those of an `@overload` are shown with its implementation."""
        if place in self.implementations:
            return []
        places = [*(stub for stub, behind in self.implementations.items() if behind == place), place]
        return list(dict.fromkeys(row for each in places for row in rows.get(each, ())))

    def _used_by(self, place: int) -> Iterator[list[Piece]]:
        users = self._with_overloads(place, self.model.users)
        if place in self.same_named:
            users = [*self.model.users.get(self.same_named[place], []), *users]
        users = list({use.id: use for use in users if use.id != self.model.ids.id_at(place)}.values())
        if self._is_local(place) and {use.id for use in users} == {self._parent_id(place)}:
            return  # it is shown inside of its only user
        heirs = self.model.subclasses.get(place, [])
        callers = [use for use in users if use.roles & CALL]
        others = [use for use in users if not use.roles & (CALL | INHERIT) and self._is_listed_use(use)]
        if callers:
            yield self._from(place, callers, "called")
        if heirs:
            yield self._from(place, [UsePair(heir, 0, 0, 1) for heir in heirs], self._heir_verb(place, heirs))
        if others:
            yield self._from(place, others, "used")

    def _heir_verb(self, place: int, heirs: Sequence[int]) -> str:
        """Return what other types do to a type: classes implement an interface, and extend a class."""
        index = self.model.index
        is_interface = self.model.symbols[place].kind == Kind.INTERFACE
        if is_interface and not any(KINDS[index.kinds[heir]] == Kind.INTERFACE for heir in heirs):
            return "embedded" if language_of(self.language).heir_verb == "embedded" else "implemented"
        return language_of(self.language).heir_verb

    def _is_local(self, place: int) -> bool:
        """True if it is defined inside of a function."""
        symbols = self.model.symbols
        parent = symbols[place].parent
        return parent >= 0 and symbols[parent].kind in (Kind.FUNCTION, Kind.METHOD)

    def _parent_id(self, place: int) -> int:
        return self.model.ids.id_at(self.model.symbols[place].parent)

    def _is_listed_use(self, use: UsePair) -> bool:
        """True if a use is worth showing: not an import, and not by the file itself outside of functions."""
        return use.roles != IMPORT and not self._is_outside_functions(use)

    def _is_outside_functions(self, use: UsePair) -> bool:
        """True if a user is this file itself or a namespace in it."""
        about = self.model
        return use.id == about.ids.file or (about.is_own(use.id) and about.index.kind_of(use.id) == Kind.NAMESPACE)

    def _from(self, place: int, users: list[UsePair], verb: str) -> list[Piece]:
        """Return the users of a definition in words, such as `called by f, g and 5 others in 3 files: …`, or
        `12 callers here and 5 in 3 files: …`."""
        all_users, users = users, self._without_declarations(users)
        paths = Counter(self.model.index.path_of(use.id) for use in all_users if not self.model.is_own(use.id))
        here = [use for use in users if self.model.is_own(use.id)]
        away = [use for use in users if not self.model.is_own(use.id)]
        inside = _one_by_label(self._own_user(use, place) for use in here)
        is_class = self.model.symbols[place].kind == Kind.CLASS
        noun = " subtypes" if verb == "extended" and not is_class else _USERS[verb]
        if len(inside) > _INSIDE:
            pieces: list[Piece] = [f"{len(inside):,}{noun} here"]
            if away:
                pieces += [" and ", *self._elsewhere(away, "", paths)]
                pieces += [] if len(away) > _NAMED_AWAY else [" elsewhere"]
        elif here:
            pieces = [f"{verb} by ", *join_with_commas(inside)]
            if away:
                pieces += [" and ", *self._elsewhere(away, " others", paths)]
        else:
            counted = len(away) > _NAMED_AWAY
            pieces = [*([] if counted else [f"{verb} by "]), *self._elsewhere(away, noun, paths)]
        return pieces

    def _without_declarations(self, users: list[UsePair]) -> list[UsePair]:
        """Return users without the declarations of those that are defined among them."""
        index = self.model.index
        declared = {use.id for use in users if index.is_declared(use.id)} if len(users) > 1 else ()
        if not declared:
            return users
        defined = {_NUMBER.sub("", index.key_of(use.id)) for use in users if use.id not in declared}
        return [use for use in users if use.id not in declared or _NUMBER.sub("", index.key_of(use.id)) not in defined]

    def _own_user(self, use: UsePair, place: int) -> Piece:
        return "code outside of named functions" if self._is_outside_functions(use) else self._named(use.id, place)

    def _other_user(self, use: UsePair) -> Piece:
        """Return a link to a user, or to its file if that is code outside of functions."""
        index = self.model.index
        path = index.path_of(use.id)
        return Ref(To.FILE, path, "", path) if index.kind_of(use.id) == Kind.NAMESPACE else self.model.ref(use.id)

    def _elsewhere(self, users: list[UsePair], noun: str, paths: Counter[str]) -> list[Piece]:
        """Return users in other files: by name if there are few, by file if those are few, else by folder; `noun`
        follows their number. `paths` are the files, also those that only declare a user."""
        if len(users) <= _NAMED_AWAY:
            return join_with_commas(_one_by_label(map(self._other_user, users)))
        if len(paths) <= _MAX_FILES:
            names = Counter(path.rpartition("/")[2] for path in paths)
            refs: list[Piece] = [Ref(To.FILE, path, "", _short_path(path, names)) for path in paths]
            return [f"{len(users):,}{noun} in ", *join_with_commas(refs)]
        return [f"{len(users):,}{noun} in {count_noun(len(paths), 'file')}: ", *folder_counts(paths)]

    def _dotted(self, parts: Iterator[list[Piece]]) -> list[Piece]:
        return [piece for part in parts for piece in [" · ", *part]]


def _short_path(path: str, names: Counter[str]) -> str:
    """Return a file's name, with its folder where several of the files have this name."""
    parts = path.split("/")
    return "/".join(parts[-2:]) if names[parts[-1]] > 1 else parts[-1]


def _one_by_label(pieces: Iterable[Piece]) -> list[Piece]:
    """Return links without those whose label is there already: overloads of one name."""
    by_label: dict[str, Piece] = {}
    for piece in pieces:
        by_label.setdefault(piece.label if isinstance(piece, Ref) else str(piece), piece)
    return list(by_label.values())


def folder_counts(paths: Counter[str]) -> list[Piece]:
    """Return the number of files by folder, most first; folders are as deep as keeps the list short."""
    counts: Counter[str] = Counter()
    depth = 1
    while depth < 6:
        deeper = Counter("/".join(path.split("/")[:-1][:depth]) for path in paths)
        if counts and len(deeper) > 6:
            break
        if deeper == counts:
            break
        counts = deeper
        depth += 1
    pieces: list[Piece] = []
    for folder, number in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        pieces += [
            ", " if pieces else "",
            Ref(To.INDEX, folder, "", folder or "the root", bool(folder)),
            f" {number:,}",
        ]
    return pieces


_WORDS: dict[str, tuple[str, ...]] = {
    Kind.FUNCTION: ("def ", "async def ", "func ", "fn "), Kind.METHOD: ("def ", "async def ", "func ", "fn "),
    Kind.MACRO: ("#define",), Kind.TYPE: ("typedef", "using "),
}  # fmt: skip
_OBVIOUS = frozenset(("async", "const", "inline", "static", "virtual", "override", "explicit", "constexpr", "noexcept"))


def _flat(signature: str) -> str:
    """Return a signature on one line."""
    return " ".join(signature.split()).replace("( ", "(").replace(" )", ")")


def _implementations(symbols: Sequence[Symbol]) -> dict[int, int]:
    """Return the implementation of each `@overload` that has one in its scope."""
    last = {(one.name, one.parent): place for place, one in enumerate(symbols) if not is_overload(one.modifiers)}
    stubs = ((place, one) for place, one in enumerate(symbols) if is_overload(one.modifiers))
    return {place: last[one.name, one.parent] for place, one in stubs if (one.name, one.parent) in last}


def _same_named_types(symbols: Sequence[Symbol]) -> dict[int, int]:
    """Return the alias that the declaration of a C type gives to it under the same name: `typedef struct A {…} A;`."""
    same_named: dict[int, int] = {}
    types: dict[tuple[str, int], int] = {}
    for place, symbol in enumerate(symbols):
        if symbol.kind in TYPE_KINDS:
            types[symbol.name, symbol.end_line] = place
        elif symbol.kind == Kind.TYPE and not symbol.doc:
            same = types.get((symbol.name, symbol.line))
            if same is not None and symbols[same].parent == symbol.parent and symbols[same].line <= symbol.line:
                same_named[same] = place
    return same_named


def _under(condition: str, word: str = " under ") -> list[Piece]:
    """Return the branch that definitions are in: in another one, their names may be bound to something else."""
    return [word, Mono(condition)] if condition else []


def _short_signature(symbol: Symbol) -> str:
    """Return the signature of a small definition, or its name if the signature is long."""
    signature = _flat(symbol.signature or symbol.name)
    return signature if len(signature) <= 100 else symbol.name


class PlainFiles:
    """The files whose definitions have no anchors of their own. Only the languages of files that are asked about are
    loaded, of which there are none where no page changes."""

    def __init__(self, index: Index) -> None:
        self._languages = {path: language for _, path, language, *_ in index.file_rows}

    def __contains__(self, path: object) -> bool:
        language = self._languages.get(str(path))
        return language is not None and language_of(language).is_keyed


def plain_files(index: Index) -> frozenset[str]:
    """Return the files whose definitions have no anchors of their own, for a whole book."""
    return frozenset(row[1] for row in index.file_rows if language_of(row[2]).is_keyed)
