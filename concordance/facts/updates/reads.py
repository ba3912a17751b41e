"""Records what a page reads of the whole repository, so that it is rebuilt only when that changes.

In: every access to data that is not the page's own. Out: the slots that were read: hashes of an aspect and a key
(`facts.updates.delta.slot_of`).

The obvious way, to record whatever is read while a page is made, fails with caches: the page that fills a cache would
record what went into it, and the pages that find it filled would not. So a value that outlives a page is handled in one
of two ways. A table that pages share is computed without recording (`shared_property`), and each look-up in it is
recorded by its key (`RecordedTable`). Any other value is memoised together with the slots that were read to compute it
(by key in a `Memo`, or in the object that it belongs to), and each use records those slots again. So the slots of a
page do not depend on which pages were made before it.

A page can also record just that it used a value, if that is `compared` after an update: where the value comes out
equal, what was read for it makes no page stale.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import update_wrapper, wraps
from hashlib import blake2b
from itertools import repeat
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar, overload

from concordance.facts.updates.delta import slot_of

Value = TypeVar("Value")
Subject = tuple[str, str]  # the kind of a page, or the name of a value that is compared, and what it is about
TouchedKeys = Mapping[str, Collection[str]]  # changed keys, by aspect
WHOLE_TABLE = "*"  # the key for a whole table
BELOW, ANYTHING = "below", "any"  # aspects: anything about the files below a folder; anything at all
FILE_USES = "file uses"  # which file uses which, and what is computed from that
_MAX_SLOTS = 1 << 16  # slots that are remembered because computing them takes longer
NAMES_BELOW = "names below"  # which names and words the files below a folder have and use
TERMS_BELOW = "terms below"  # which of these words are terms other than names


class ReadRecord(NamedTuple):
    """What was made for a subject, and what was read for it."""

    slots: bytes  # the slots that were read, as a sorted array of unsigned numbers
    results: tuple[str, ...]  # the paths of its pages in the book; of a value that is compared, its digest


class ReadRecorder:
    """Collects the slots that are read while it is recording."""

    def __init__(self) -> None:
        self.listener: set[int] | None = None  # the set that collects slots; None while nothing is recorded
        # What was read for values that are compared (`compared`), and digests of them; None if nobody compares them.
        self.values: dict[Subject, ReadRecord] | None = None
        self._slots: dict[tuple[str, str], int] = {}
        self._records: dict[Subject, ReadRecord] = {}  # of values that are compared, as of the last change
        self.revision = 0  # how often something has changed since the recorder exists
        self._changed: dict[int, int] = {}  # by slot, the revision in which it changed last

    def mark_changed(self, slots: Iterable[int]) -> None:
        """Record that slots have changed: memoised values that were computed from them are no longer valid."""
        self.revision += 1
        self._records.clear()
        self._changed.update(dict.fromkeys(slots, self.revision))

    def has_changed(self, slots: Collection[int], since: int) -> bool:
        """True if one of the slots has changed after a revision."""
        return max(map(self._changed.get, slots, repeat(0)), default=0) > since

    def note(self, aspect: str, key: str) -> None:
        """Record that something was read."""
        if self.listener is not None:
            what = (aspect, key)
            slot = self._slots.get(what)
            if slot is None:
                if len(self._slots) >= _MAX_SLOTS:
                    self._slots.clear()
                slot = self._slots[what] = slot_of(aspect, key)
            self.listener.add(slot)

    def record_slots(self, slots: Iterable[int]) -> None:
        """Record slots that were read when a cached value was computed."""
        if self.listener is not None:
            self.listener.update(slots)

    def record_of(self, subject: Subject, value: object, slots: Iterable[int]) -> ReadRecord:
        """Return the record of a value that is compared. Many pages use the same ones, and putting the lines of a whole
        file into words takes longer than anything else such a page does with them."""
        record = self._records.get(subject)
        if record is None:
            if len(self._records) >= _MAX_SLOTS:
                self._records.clear()
            digest = blake2b(repr(value).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
            record = self._records[subject] = ReadRecord(pack_slots(slots), (digest,))
        return record

    @contextmanager
    def recording(self, apart: bool = False) -> Iterator[set[int]]:
        """Collect the slots that are read inside the block; unless `apart`, an outer listener gets them too."""
        outside, inside = self.listener, set[int]()
        self.listener = inside
        try:
            yield inside
        finally:
            self.listener = outside
            if not apart:
                self.record_slots(inside)

    @contextmanager
    def not_recording(self) -> Iterator[None]:
        """Record nothing inside the block: what is read there serves all pages."""
        outside, self.listener = self.listener, None
        try:
            yield
        finally:
            self.listener = outside


class Recording(Protocol):
    """An object that has a recorder."""

    reads: ReadRecorder


class HasCache(Recording, Protocol):
    """An index: it also holds cached values."""

    cache: dict[Any, Any]  # by the function that computes it


Index = TypeVar("Index", bound=HasCache)
Owner = TypeVar("Owner", bound=Recording)


Event = str | Callable[[TouchedKeys], bool]  # an aspect that was touched, or a condition
ANY_UPDATE = "update"  # as an event: every update


def _happened(events: Iterable[Event], touched: TouchedKeys) -> bool:
    return any(
        event == ANY_UPDATE or bool(touched.get(event)) if isinstance(event, str) else event(touched)
        for event in events
    )


class Shared(Generic[Value]):
    """A property or a function of an index that is computed once, unrecorded, because all pages share its value."""

    def __init__(self, make: Callable[[Any], Value], events: Iterable[Event]) -> None:
        self._make, self.events = make, tuple(events)
        update_wrapper(self, make)

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Self | Value:
        """Compute the value and store it in the instance, where the next access finds it without this descriptor."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value

    def __call__(self, index: Any) -> Value:
        """Compute the value of a function, or return the one in the index's cache."""
        if self not in index.cache:
            index.cache[self] = self._compute(index)
        value: Value = index.cache[self]
        return value

    def _compute(self, owner: Any) -> Value:
        with owner.reads.not_recording():
            return self._make(owner)


def shared_property(*events: Event) -> Callable[[Callable[[Any], Value]], Shared[Value]]:
    """Decorate a property of an index: computed once, unrecorded, and again after an update with one of the events.

    Without events it stays for as long as the index; whoever updates the index updates it.
    """
    return lambda make: Shared(make, events)


def shared_until(*events: Event) -> Callable[[Callable[[Index], Value]], Callable[[Index], Value]]:
    """Decorate a function of an index: computed once, unrecorded, and again after an update with one of the events."""

    return lambda make: Shared(make, events)


def incremental(make: Callable[[Index, Value | None], Value]) -> Callable[[Index], Value]:
    """Decorate a function that is computed again after each update and is given its previous value."""

    @shared_until()
    def last(index: Index) -> list[Value]:
        return []

    @wraps(make)
    def wrapper(index: Index) -> Value:
        before = last(index)
        before[:] = [make(index, before[0] if before else None)]
        return before[0]

    return shared_until(ANY_UPDATE)(wrapper)


def is_computed(index: object, name: str) -> bool:
    """True if a shared property has been computed."""
    return name in vars(index)


def drop_shared_properties(owner: object, touched: TouchedKeys) -> None:
    """Drop the shared properties that an update makes invalid."""
    properties = {name: shared for name, shared in vars(type(owner)).items() if isinstance(shared, Shared)}
    for name in [name for name, shared in properties.items() if _happened(shared.events, touched)]:
        vars(owner).pop(name, None)


def drop_shared(index: HasCache, touched: TouchedKeys) -> None:
    """Drop all shared values that an update makes invalid; whether those of a `Memo` are is found out at each use."""
    drop_shared_properties(index, touched)
    for make, value in list(index.cache.items()):
        stale = _happened(make.events, touched) if isinstance(make, Shared) else not isinstance(value, Memo)
        if stale:
            del index.cache[make]


def memoised(
    limit: int, of: str = "", weigh: Callable[[Any], int] = lambda value: 1
) -> Callable[[Callable[[Index, str], Value]], Callable[[Index, str], Value]]:
    """Memoise a function of an index and a key, and record what it read at each use.

    At most `limit` values are kept, or values of that total weight; the oldest is dropped first. `of` names a table
    whose row for the key also invalidates the value; the caller records that row itself.
    """

    def decorate(make: Callable[[Index, str], Value]) -> Callable[[Index, str], Value]:
        @wraps(make)
        def wrapper(index: Index, key: str) -> Value:
            known: Memo[Value] | None = index.cache.get(wrapper)
            if known is None:
                known = index.cache[wrapper] = Memo(index.reads, of, weigh)
            row = known.find(key)
            if row is None:
                with index.reads.recording() as slots:
                    value = make(index, key)
                row = known.keep(key, value, slots, limit)
            index.reads.record_slots(row.slots)
            return row.value

        return wrapper

    return decorate


class _MemoRow(Generic[Value]):
    __slots__ = ("revision", "slots", "value")

    def __init__(self, value: Value, slots: array[int], revision: int) -> None:
        self.value = value
        self.slots = slots  # those that were read to compute the value; an array takes an eighth of a set
        self.revision = revision  # the last revision in which it was valid


class Memo(dict[str, "_MemoRow[Value]"]):
    """Memoised values by key. Whether one is still valid is found out when it is used."""

    def __init__(self, reads: ReadRecorder, of: str, weigh: Callable[[Any], int]) -> None:
        super().__init__()
        self._reads, self._of, self._weigh, self._weight = reads, of, weigh, 0

    def find(self, key: str) -> _MemoRow[Value] | None:
        """Return a value that is still valid."""
        row, reads = self.get(key), self._reads
        if row is None or row.revision == reads.revision:
            return row
        slots = [*row.slots, slot_of(self._of, key)] if self._of else row.slots
        if reads.has_changed(slots, row.revision):
            self._drop(key)
            return None
        row.revision = reads.revision
        return row

    def keep(self, key: str, value: Value, slots: Collection[int], limit: int) -> _MemoRow[Value]:
        """Add a value, and drop the oldest ones as long as all together weigh more than the limit."""
        self._weight += self._weigh(value)
        while self._weight > limit and self:
            self._drop(next(iter(self)))
        row = self[key] = _MemoRow(value, array("I", slots), self._reads.revision)
        return row

    def _drop(self, key: str) -> None:
        self._weight -= self._weigh(self.pop(key).value)


def key_within(path: str, part: str) -> str:
    """Return the key of a value about a part of a file; no path contains a NUL character."""
    return f"{path}\0{part}"


def path_of_key(key: str) -> str:
    """Return the path of the file that a value that is compared is about, or a part of which."""
    return key.partition("\0")[0]


def compared(name: str) -> Callable[[Callable[[Index, str], Value]], Callable[[Index, str], Value]]:
    """Decorate a function of an index and a key whose value seldom changes with what it reads.

    The key is a path or made by `key_within`. A page that uses the value records only that (`name` and the key). What
    was read for the value is recorded for the value itself: if any of that changes, the value is computed again, and if
    it is equal, no page is made for it.
    """

    def decorate(make: Callable[[Index, str], Value]) -> Callable[[Index, str], Value]:
        @wraps(make)
        def wrapper(index: Index, key: str) -> Value:
            reads = index.reads
            reads.note(name, key)
            if reads.values is None or reads.listener is None:
                return make(index, key)
            with reads.recording(apart=True) as slots:
                value = make(index, key)
            if (name, key) not in reads.values:  # a page may use a value for each of its lines
                reads.values[name, key] = reads.record_of((name, key), value, slots)
            return value

        return wrapper

    return decorate


def memoised_in_object(make: Callable[[Owner], Value]) -> Callable[[Owner], Value]:
    """Memoise a function of an object in that object, as `cached_property` does, for objects that several pages use.

    What was read for the value is recorded for every listener that asks for it, not only for the first.
    """
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def wrapper(owner: Owner) -> Value:
        reads = owner.reads
        memo: _Recorded[Value] | None = owner.__dict__.get(name)
        if memo is None:
            with reads.recording() as slots:
                value = make(owner)
            memo = owner.__dict__[name] = _Recorded(value, slots, reads.listener)
        elif memo.last_listener is not reads.listener:
            reads.record_slots(memo.slots)
            memo.last_listener = reads.listener
        return memo.value

    return wrapper


class _Recorded(Generic[Value]):
    __slots__ = ("last_listener", "slots", "value")

    def __init__(self, value: Value, slots: set[int], last_listener: set[int] | None) -> None:
        self.value, self.slots = value, slots
        self.last_listener = last_listener  # the listener that recorded the slots last, as a page may ask many times


def unrecorded_copy(table: dict[str, Value]) -> dict[str, Value]:
    """Return a plain copy of a table without recording, for values that are computed from all of it."""
    return dict(dict.items(table))


class RecordedTable(dict[str, Value]):
    """A table by path or name that records each look-up."""

    def __init__(self, reads: ReadRecorder, name: str, rows: Mapping[str, Value]) -> None:
        super().__init__(rows)
        self._reads, self._name = reads, name

    def __getitem__(self, key: str) -> Value:
        self._reads.note(self._name, key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:  # types as loose as `dict.get` needs
        """Return the value of a key, or a default."""
        self._reads.note(self._name, key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._reads.note(self._name, str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._reads.note(self._name, WHOLE_TABLE)
        return super().__iter__()

    def items(self) -> Any:
        """Return all items, and record that the whole table was read."""
        self._reads.note(self._name, WHOLE_TABLE)
        return super().items()

    def values(self) -> Any:
        """Return all values, and record that the whole table was read."""
        self._reads.note(self._name, WHOLE_TABLE)
        return super().values()

    def keys(self) -> Any:
        """Return all keys, and record that the whole table was read."""
        self._reads.note(self._name, WHOLE_TABLE)
        return super().keys()


# --- encoded slots


def pack_slots(slots: Iterable[int]) -> bytes:
    """Encode slots."""
    return array("I", sorted(slots)).tobytes()


def slot_array(packed: bytes) -> array[int]:
    """Decode slots as an ascending array."""
    slots = array("I")
    slots.frombytes(packed)
    return slots
