"""The graph of all links in the repository, as two arrays: small enough to read at once, fast to traverse.

In: for each file, what uses what and what runs along with what (`EdgeKind`). Out: `LinkGraph`, which returns the users
of any symbol. An edge is one number: the target's id, the user's id and the kind of the edge (`way`). In sorted order,
the users of a target are contiguous, so only users and kinds need to be stored, and the index at which each target's
users start.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import accumulate
from typing import Any, NamedTuple

from concordance.base.model import ROLES, Role, role_bit, unpack_column
from concordance.facts.symbol_ids import IdOwners, owner_by_id

_USER = 4  # bits of an edge kind
_TARGET = 32  # bits of an edge kind and a user's id
_WAY = (1 << _USER) - 1
_SHARE_BITS = 6  # upper bits of numbers by which they are distributed before they are sorted


class EdgeKind(IntEnum):
    """How a user links to a target (a closed list). Kinds by which code is executed come first."""

    CALLS = 0
    READS = 1
    HOLDS = 2  # a function inside the user
    MAKES = 3  # a constructor, and methods that Python calls on an instance implicitly
    ASKS = 4  # a fixture
    SETS_UP = 5  # what is run before and after a test
    IS_WRAPPED = 6  # a function inside a decorator
    STANDS_FOR = 7  # what a variable is an alias of
    REPEATS = 8  # the other definitions of an overloaded name
    LOADS = 9  # called or read once, when the user's file is loaded
    PASSES = 10  # named only to access a member of it
    INHERITS = 11
    TYPES = 12
    WRITES = 13
    IMPORTS = 14
    MENTIONS = 15


RUNS = frozenset(range(EdgeKind.LOADS))
STEPS = 10  # maximum depth of a search for tests; measured: less misses tests behind layers, more adds unrelated ones
# If there are several roles, the first one in this list counts.
_BY_ROLE = (
    (Role.CALL, EdgeKind.CALLS),
    (Role.READ, EdgeKind.READS),
    (Role.INHERIT, EdgeKind.INHERITS),
    (Role.OVERRIDE, EdgeKind.INHERITS),
    (Role.TYPE, EdgeKind.TYPES),
    (Role.WRITE, EdgeKind.WRITES),
    (Role.IMPORT, EdgeKind.IMPORTS),
    (Role.MENTION, EdgeKind.MENTIONS),
)


def _edge_kinds() -> tuple[EdgeKind, ...]:
    """Return the edge kind of each set of roles, indexed by its bits."""
    bits = [(role_bit(role), way) for role, way in _BY_ROLE]
    return tuple(next((way for bit, way in bits if roles & bit), EdgeKind.MENTIONS) for roles in range(1 << len(ROLES)))


BY_ROLES = _edge_kinds()
Pair = tuple[int, int, int]  # ids of the using file and the used file, and the number of edges


def edge(target: int, user: int, way: int) -> int:
    """Encode an edge as a number; ids are below 2 ** 28."""
    return target << _TARGET | user << _USER | way


def pack_edges(edges: Iterable[int]) -> bytes:
    """Encode the edges of one file."""
    return array("Q", sorted(edges)).tobytes()


def unpack_edges(edges: bytes) -> Iterator[tuple[int, int, int]]:
    """Decode the edges of one file: target, user, kind."""
    return map(unpack_edge, array("Q", edges))


def unpack_edge(packed: int) -> tuple[int, int, int]:
    """Decode an edge: target, user, kind."""
    return packed >> _TARGET, packed >> _USER & (1 << _TARGET - _USER) - 1, packed & _WAY


def is_executing(packed: int) -> bool:
    """True if an edge means that something is executed or loaded."""
    return packed & _WAY <= EdgeKind.LOADS


def sorted_numbers(numbers: Iterable[int], bits: int = 64) -> array[int]:
    """Sort numbers of at most `bits` bits. A list of millions of them takes 40 bytes each, so they are sorted share by
    share."""
    shares = [array("Q") for _ in range(1 << _SHARE_BITS)]
    for number in numbers:
        shares[number >> bits - _SHARE_BITS].append(number)
    ordered = array("Q")
    for place, share in enumerate(shares):
        shares[place] = array("Q")
        ordered.extend(array("Q", sorted(share)))
    return ordered


def join_graph(parts: Iterable[bytes], top: int) -> bytes:
    """Join the edges of all files into an encoded graph; `top` is above all ids."""
    edges = (number for part in parts for number in array("Q", part))
    halves = array("I", sorted_numbers(edges, _TARGET + top.bit_length()).tobytes())
    starts = array("I", [0]) * (top + 1)
    for target in halves[1::2] if _LITTLE else halves[::2]:
        starts[target + 1] += 1
    starts = array("I", accumulate(starts))
    return struct.pack("<I", len(starts)) + starts.tobytes() + (halves[::2] if _LITTLE else halves[1::2]).tobytes()


def patch_graph(packed: bytes, removed: Sequence[int], added: Sequence[int], top: int) -> bytes:
    """Return a graph with edges removed and others added: the same as from `join_graph`, in a tenth of the time."""
    (count,) = struct.unpack_from("<I", packed)
    starts, users, patched_users, patched_starts = array("I"), array("I"), array("I"), array("I")
    starts.frombytes(packed[4 : 4 + 4 * count])
    users.frombytes(packed[4 + 4 * count :])
    starts.extend([starts[-1]] * (top + 1 - count))
    low = (1 << _TARGET) - 1
    changes: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for place, edges in enumerate((removed, added)):
        for edge in edges:
            changes[edge >> _TARGET][place].append(edge & low)
    done = shift = 0
    for target in sorted(changes):
        less, more = changes[target]
        patched_starts.extend(
            starts[done : target + 1] if not shift else [edge + shift for edge in starts[done : target + 1]]
        )
        patched_users.extend(users[starts[done] : starts[target]])
        had = Counter(users[starts[target] : starts[target + 1]])
        had.subtract(less)
        had.update(more)
        patched_users.extend(sorted(had.elements()))
        done, shift = target + 1, len(patched_users) - starts[target + 1]
    patched_starts.extend([edge + shift for edge in starts[done:]])
    patched_users.extend(users[starts[done] :])
    return struct.pack("<I", len(patched_starts)) + patched_starts.tobytes() + patched_users.tobytes()


_LITTLE = array("I", array("Q", [1]).tobytes())[0] == 1  # True if the lower half of a number comes first in memory


class GraphWalk(NamedTuple):
    """The result of a search over the graph."""

    steps: dict[int, tuple[int, int, int]]  # by id: distance, the next node towards the start, and the edge kind
    whole: bool  # True if the search was not cut short


class LinkGraph:
    """All edges."""

    def __init__(self, packed: bytes) -> None:
        (count,) = struct.unpack_from("<I", packed) if packed else (0,)
        self._starts, self._users = array("I"), array("I")
        part = memoryview(packed)  # a slice of the bytes would be another copy
        self._starts.frombytes(part[4 : 4 + 4 * count])
        self._users.frombytes(part[4 + 4 * count :])

    def __len__(self) -> int:
        return len(self._users)

    def users(self, target: int) -> list[tuple[int, int]]:
        """Return the users of a target, each with the edge kind."""
        if not 0 <= target < len(self._starts) - 1:
            return []
        return [(edge >> _USER, edge & _WAY) for edge in self._users[self._starts[target] : self._starts[target + 1]]]

    def users_of(self, targets: Iterable[int], first_other: int) -> tuple[set[int], int]:
        """Return the users of any of the targets over the edge kinds below `first_other`, and the number of edges."""
        begins, users, known = self._starts, self._users, len(self._starts) - 1
        found_users: set[int] = set()
        looked = 0
        for target in targets:
            if 0 <= target < known:
                edges = users[begins[target] : begins[target + 1]]
                looked += len(edges)
                found_users.update([edge >> _USER for edge in edges if edge & _WAY < first_other])
        return found_users, looked

    def reversed(self) -> LinkGraph:
        """Return the graph in which every user is a target, and its targets are the users."""
        begins, users = self._starts, self._users
        edges = array("Q")
        for target in range(len(begins) - 1):
            low = target << _USER
            edges.extend(
                [edge >> _USER << _TARGET | low | edge & _WAY for edge in users[begins[target] : begins[target + 1]]]
            )
        return LinkGraph(join_graph((edges.tobytes(),), len(begins) - 1))

    def back(
        self, starts: Iterable[int], kinds: frozenset[int], last: frozenset[int], steps: int, limit: int,
        order: Callable[[int], Any], ignored: Collection[tuple[int, int]] = (),
    ) -> GraphWalk:  # fmt: skip
        """Search backwards from `starts`: everything that leads there within `steps`, nearest first.

        The search continues from nodes reached by an edge of `kinds`, but not from those reached only by an edge of
        `last`. It stops early after examining `limit` edges. Nodes at the same distance are visited in the order of the
        key `order`, so that the result does not depend on ids, which vary from build to build. The pairs of target and
        user in `ignored` are no edges.
        """
        begins, users, known = self._starts, self._users, len(self._starts) - 1
        met = dict.fromkeys(starts, (0, 0, 0))
        ends: dict[int, tuple[int, int, int]] = {}  # reached by `last`; if also reached otherwise, `met` counts
        now, looked = sorted((edge for edge in met if edge < known), key=order), 0
        for distance in range(1, steps + 1):
            following = []
            for target in now:
                begin, end = begins[target], begins[target + 1]
                looked += end - begin
                for edge in users[begin:end]:
                    user, way = edge >> _USER, edge & _WAY
                    if user in met or (ignored and (target, user) in ignored):
                        continue
                    if way in kinds:
                        met[user] = (distance, target, way)
                        following.append(user)
                    elif way in last and user not in ends:
                        ends[user] = (distance, target, way)
                if looked > limit:
                    return GraphWalk({**ends, **met}, False)
            now = sorted(following, key=order)
        return GraphWalk({**ends, **met}, True)

    def forward(self, limit: int) -> dict[int, list[int]]:
        """Return the targets of each user over edge kinds below `limit`."""
        begins, users = self._starts, self._users
        targets: defaultdict[int, list[int]] = defaultdict(list)
        for target in range(len(begins) - 1):
            for edge in users[begins[target] : begins[target + 1]]:
                if edge & _WAY < limit:
                    targets[edge >> _USER].append(target)
        return dict(targets)

    def users_by(self, target: int, least: int, most: int) -> list[int]:
        """Return the users of a target over the edge kinds from `least` to `most`."""
        edges = self._users[self._starts[target] : self._starts[target + 1]]
        return [edge >> _USER for edge in edges if least <= edge & _WAY <= most]

    def by_way(self, way: int) -> Iterator[tuple[int, int]]:
        """Yield the targets and users of one edge kind."""
        for target in range(len(self._starts) - 1):
            for user in self.users_by(target, way, way):
                yield target, user

    def files(self, owners: IdOwners[int]) -> list[Pair]:
        """Return the edges between files."""
        top = len(self._starts) - 1
        owner = owner_by_id(owners, top)
        ends = [*owners.starts[1:], top]
        times: dict[int, Counter[int]] = {}
        for start, end, file in zip(owners.starts, ends, owners.owners, strict=False):  # without files there is one end
            stretch = self._users[self._starts[start] : self._starts[end]]
            times.setdefault(file, Counter()).update([owner[edge >> _USER] for edge in stretch])
        return [(user, file, n) for file, users in times.items() for user, n in users.items() if user != file]


def pack_pairs(pairs: Iterable[Pair]) -> bytes:
    """Encode pairs of files."""
    return array("I", [number for pair in pairs for number in pair]).tobytes()


def unpack_loads(loads: Mapping[int, bytes]) -> list[Pair]:
    """Return which file loads which, each pair once; `loads` has by file the packed ids of the files it loads."""
    return [(user, target, 1) for user, column in loads.items() for target in unpack_column(column)]


def unpack_pairs(packed: bytes) -> list[Pair]:
    """Decode pairs of files."""
    return list(iterate_pairs(packed))


def iterate_pairs(packed: bytes) -> Iterator[Pair]:
    """Decode pairs of files one by one."""
    numbers = iter(array("I", packed))
    return zip(numbers, numbers, numbers, strict=True)


class Pairs:
    """Sorted pairs of files, from which some can be removed and added without touching the others."""

    def __init__(self, packed: bytes) -> None:
        self._numbers = array("I", packed)

    def take(self, users: Collection[int]) -> list[Pair]:
        """Remove and return the pairs that have one of the users."""
        numbers = self._numbers
        places = [place for place, user in enumerate(numbers[::3]) if user in users]
        pairs = [(numbers[3 * place], numbers[3 * place + 1], numbers[3 * place + 2]) for place in places]
        left, done = array("I"), 0
        for place in places:
            left.extend(numbers[done : 3 * place])
            done = 3 * place + 3
        left.extend(numbers[done:])
        self._numbers = left
        return pairs

    def put(self, pairs: Iterable[Pair]) -> None:
        """Insert pairs that are not present."""
        numbers = self._numbers
        users, targets, merged, done = numbers[::3], numbers[1::3], array("I"), 0
        for pair in sorted(pairs):
            begin, end = bisect_left(users, pair[0]), bisect_right(users, pair[0])
            place = 3 * bisect_left(targets, pair[1], begin, end)
            merged.extend(numbers[done:place])
            merged.extend(pair)
            done = place
        merged.extend(numbers[done:])
        self._numbers = merged

    def packed(self) -> bytes:
        """Return all remaining pairs, encoded."""
        return self._numbers.tobytes()
