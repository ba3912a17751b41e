"""What a page reads of the whole repository, so that it is made again only when that changed.

In: each look at what is not the page's own. Out: the slots that were read (`facts.touched.slot`). Whatever pages share
and is worked out once is worked out unheard (`shared`, `SharedProperty`); what is looked up in it is heard by its key.
Every other value that outlives a page is memoised together with the slots that were read for it (`kept` by key,
`recorded` in the object that it belongs to), and each use notes those slots again. So the slots of a page do not depend
on which pages were made before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from concordance.facts.updates.store_delta import slot

Value = TypeVar("Value")
Touched = Mapping[str, Collection[str]]  # keys by aspect
EVERY = "*"  # the key of all that is in a table
BELOW, ANY = "below", "any"  # whatever is said of files below a folder; anything at all
MOVED = "moved"  # files whose symbols have other ids than before: what is kept by ids is made again
NAMES_BELOW = "names below"  # which names and words files below a folder have, and use


class ReadRecorder:
    """Hears what is read."""

    def __init__(self) -> None:
        self.listener: set[int] | None = None  # where slots are noted; None where nobody listens
        self._slots: dict[tuple[str, str], int] = {}

    def note(self, what: str, key: str) -> None:
        """Something was looked at."""
        if self.listener is not None:
            asked = (what, key)
            number = self._slots.get(asked)
            if number is None:
                number = self._slots[asked] = slot(what, key)
            self.listener.add(number)

    def again(self, slots: Iterable[int]) -> None:
        """What was worked out of some slots was handed out once more."""
        if self.listener is not None:
            self.listener.update(slots)

    @contextmanager
    def heard(self) -> Iterator[set[int]]:
        """What is read inside; who listens outside hears it, too."""
        outside, inside = self.listener, set[int]()
        self.listener = inside
        try:
            yield inside
        finally:
            self.listener = outside
            self.again(inside)

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """What is read inside is for all, and nobody's."""
        outside, self.listener = self.listener, None
        try:
            yield
        finally:
            self.listener = outside


class Recording(Protocol):
    """Whatever knows who listens."""

    reads: ReadRecorder


class HasCache(Recording, Protocol):
    """An index: it holds what was worked out."""

    worked_out: dict[Any, Any]  # by the function that makes it


Index = TypeVar("Index", bound=HasCache)
Owner = TypeVar("Owner", bound=Recording)


class SharedProperty(Generic[Value]):
    """A property that is worked out once for all, as `cached_property`, and unheard."""

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Self | Value:
        """What it is; who asks first makes it, and the next finds it in the instance itself."""
        if instance is None:
            return self
        with instance.reads.unheard():
            value: Value = self._make(instance)
        instance.__dict__[self._name] = value
        return value


def shared(make: Callable[[Index], Value]) -> Callable[[Index], Value]:
    """What is worked out once for a repository, and again after each update."""
    return _shared(make, lambda touched: False)


def lasting(
    stays: Callable[[Touched], bool],
) -> Callable[[Callable[[Index], Value]], Callable[[Index], Value]]:
    """The same, of what stays as it is after updates of which `stays` says so."""
    return lambda make: _shared(make, stays)


def going_on(make: Callable[[Index, Value | None], Value]) -> Callable[[Index], Value]:
    """What is worked out again after each update, of what it was the last time."""

    @lasting(unless())
    def last(index: Index) -> list[Value]:
        return []

    @wraps(make)
    def made(index: Index) -> Value:
        before = last(index)
        before[:] = [make(index, before[0] if before else None)]
        return before[0]

    return shared(made)


def unless(*aspects: str) -> Callable[[Touched], bool]:
    """Whether an update touched none of some aspects, for `lasting`."""
    return lambda touched: not any(touched.get(one) for one in aspects)


def _shared(make: Callable[[Index], Value], stays: Callable[[Touched], bool]) -> Callable[[Index], Value]:
    @wraps(make)
    def given(index: Index) -> Value:
        known: _Once[Value] | None = index.worked_out.get(given)
        if known is None:
            with index.reads.unheard():
                known = index.worked_out[given] = _Once(make(index), stays)
        return known.value

    return given


class _Once(Generic[Value]):
    def __init__(self, value: Value, stays: Callable[[Touched], bool]) -> None:
        self.value, self.stays = value, stays


def renewed(worked_out: Mapping[Any, Any], touched: Touched) -> dict[Any, Any]:
    """What is still right after an update, of what was worked out; of what is kept by key (`Memo`), see `forget`."""
    return {
        make: one for make, one in worked_out.items()
        if isinstance(one, Memo) or (isinstance(one, _Once) and one.stays(touched))
    }  # fmt: skip


def forget(worked_out: Mapping[Any, Any], slots: set[int]) -> None:
    """Lets go of what was made of some slots."""
    for one in worked_out.values():
        if isinstance(one, Memo):
            one.forget(slots)


def kept(most: int, of: str = "") -> Callable[[Callable[[Index, str], Value]], Callable[[Index, str], Value]]:
    """What is worked out for a key, kept for those who ask again; of more than `most`, the oldest are forgotten. It
    hangs on the row of its key in the table `of`, too, which who asks hears by itself."""

    def around(make: Callable[[Index, str], Value]) -> Callable[[Index, str], Value]:
        @wraps(make)
        def given(index: Index, key: str) -> Value:
            known: Memo[Value] | None = index.worked_out.get(given)
            if known is None:
                known = index.worked_out[given] = Memo(of)
            row = known.get(key)
            if row is None:
                with index.reads.heard() as slots:
                    row = make(index, key), frozenset(slots)
                if len(known) >= most:
                    del known[next(iter(known))]
                known[key] = row
            index.reads.again(row[1])
            return row[0]

        return given

    return around


class Memo(dict[str, tuple[Value, frozenset[int]]]):
    """What was worked out, by key, with what was read for it."""

    def __init__(self, of: str = "") -> None:
        super().__init__()
        self._of = of

    def forget(self, slots: set[int]) -> None:
        """Lets go of what was made of some slots."""
        of = self._of
        stale = [
            key for key, (_, read) in self.items() if not slots.isdisjoint(read) or (of and slot(of, key) in slots)
        ]
        for key in stale:
            del self[key]


def recorded(make: Callable[[Owner], Value]) -> Callable[[Owner], Value]:
    """Memoises a function of an object in that object, as `cached_property` does, for objects that more than one page
    uses. What was read for the value is noted for each listener that asks for it, not only for the first."""
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def given(owner: Owner) -> Value:
        reads = owner.reads
        memo: _Recorded[Value] | None = owner.__dict__.get(name)
        if memo is None:
            with reads.heard() as slots:
                value = make(owner)
            memo = owner.__dict__[name] = _Recorded(value, slots, reads.listener)
        elif memo.told is not reads.listener:
            reads.again(memo.slots)
            memo.told = reads.listener
        return memo.value

    return given


class _Recorded(Generic[Value]):
    __slots__ = ("slots", "told", "value")

    def __init__(self, value: Value, slots: set[int], told: set[int] | None) -> None:
        self.value, self.slots = value, slots
        self.told = told  # the listener that has noted the slots last: a page asks for one value many times


def plain(table: dict[str, Value]) -> dict[str, Value]:
    """A table as a plain one, unheard: for what is worked out of all of it."""
    return dict(dict.items(table))


class RecordedTable(dict[str, Value]):
    """A table by path or name, each look into which is heard."""

    def __init__(self, reads: ReadRecorder, name: str, rows: Mapping[str, Value]) -> None:
        super().__init__(rows)
        self._reads, self._name = reads, name

    def __getitem__(self, key: str) -> Value:
        self._reads.note(self._name, key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:  # as `dict` has it, whose types say more than can be said here
        """What stands there, or else a default."""
        self._reads.note(self._name, key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._reads.note(self._name, str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._reads.note(self._name, EVERY)
        return super().__iter__()

    def items(self) -> Any:
        """All of it."""
        self._reads.note(self._name, EVERY)
        return super().items()

    def values(self) -> Any:
        """All of it."""
        self._reads.note(self._name, EVERY)
        return super().values()

    def keys(self) -> Any:
        """All of it."""
        self._reads.note(self._name, EVERY)
        return super().keys()


class RecordedTableById(dict[int, Value]):
    """The same by the id of a file, which is heard by its path."""

    def __init__(self, reads: ReadRecorder, name: str, rows: Mapping[int, Value], paths: Mapping[int, str]) -> None:
        super().__init__(rows)
        self._reads, self._name, self._paths = reads, name, paths

    def __getitem__(self, key: int) -> Value:
        self._reads.note(self._name, self._paths[key])
        return super().__getitem__(key)

    def get(self, key: int, default: Any = None) -> Any:
        """What stands there, or else a default."""
        self._reads.note(self._name, self._paths.get(key, ""))
        return super().get(key, default)
