"""Evaluates questions that depend on one another, possibly in cycles, independently of the order of asking.

In: a function that answers a question and asks others through the solver. Out: answers. The obvious way, recursion with
a table of answers in which a question met again counts as unknown, fails in cycles: the answer to a member of a cycle
depends on which member was asked first, so a table of such answers depends on the order of questions.

Instead, the questions of a cycle (a strongly connected component, found by Tarjan's algorithm) are answered together:
all are unknown at first, and in each round all are answered from the answers of the round before, until none changes.
An answer that does not settle is unknown. A round may ask new questions; if these lead back into the component, they
join it, and it starts over. Which questions form a component, and the rounds, are the same whichever member is asked
first: a question is either answered on its own, or it waits for one that waits for it.

There is no limit on depth. Questions are nested on Python's stack up to `_MAX_NESTED`; then the stack is unwound, and
the questions that were open are asked again when the answers they wait for are known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")
_MAX_NESTED = 25  # questions on Python's stack, each of which takes up to a dozen frames
_MAX_CHANGES = 24  # changes of an answer in a component, after which it counts as unknown


class _UnwindError(Exception):
    """Too many questions are nested: the innermost has to be answered first."""


class _Frame(Generic[Key, Answer]):
    """An open question: one that is being answered, or the first of a component."""

    answers: dict[Key, Answer] | None = None  # of a component: the answers of the last round
    asked_by: dict[Key, dict[Key, None]]  # of a component: the questions that asked for each question
    now: Key  # of a component: the question that is being answered

    def __init__(self, key: Key, index: int, start: int) -> None:
        self.key, self.index, self.start = key, index, start
        self.low = index + 1  # the lowest index of a question that was met while this one was open


class Solver(Generic[Key, Answer]):
    """Answers questions; the caller stores the answers and asks only for those it does not have."""

    def __init__(
        self, evaluate: Callable[[Key], Answer], store: Callable[[Key, Answer], None], unknown: Answer,
        advance: Callable[[Answer, Answer], Answer] = lambda old, new: new,
    ) -> None:  # fmt: skip
        """`store` is called with each answer once it is final; `advance` combines the last answer of a component's
        member with the one just computed into the next answer."""
        self._evaluate, self._store, self._unknown, self._advance = evaluate, store, unknown, advance
        # how often an answer was returned that is not final; results derived from such an answer must not be cached
        self.provisional = 0
        self._stack: list[_Frame[Key, Answer]] = []
        self._waiting: list[Key] = []  # questions that are open or part of an open component, in the order of asking
        self._index: dict[Key, int] = {}  # of the questions in `_waiting`
        self._count = 0
        self._nested = 0

    def ask(self, key: Key) -> Answer:
        """Return the answer to a question; within a component, its answer in the last round."""
        index = self._index.get(key)
        if index is not None:
            return self._provisional_answer(key, index)
        index = self._count = self._count + 1
        self._index[key] = index
        frame: _Frame[Key, Answer] = _Frame(key, index, len(self._waiting))
        self._stack.append(frame)
        self._waiting.append(key)
        if not self._nested:
            return self._drive()
        if self._nested >= _MAX_NESTED:
            raise _UnwindError
        self._nested += 1
        answer = self._run(frame)
        self._nested -= 1
        return answer

    def _provisional_answer(self, key: Key, index: int) -> Answer:
        """Return the provisional answer to a question that is not answered yet."""
        self.provisional += 1
        top = self._stack[-1]
        if top.answers is not None and key in top.answers:
            top.asked_by.setdefault(key, {})[top.now] = None
            return top.answers[key]
        top.low = min(top.low, index)
        return self._unknown

    def _drive(self) -> Answer:
        """Answer a question that no other question waits for."""
        answer = self._unknown
        try:
            while self._stack:
                self._nested = 1
                try:
                    answer = self._run(self._stack[-1])
                except _UnwindError:
                    continue
        finally:  # after an error in one file, no question may stay open
            self._nested = 0
            self._stack.clear()
            self._waiting.clear()
            self._index.clear()
        return answer

    def _run(self, frame: _Frame[Key, Answer]) -> Answer:
        """Answer the innermost question, and take it off the stack."""
        if frame.answers is None:
            evaluated = self._evaluate(frame.key)
            if frame.low > frame.index and len(self._waiting) == frame.start + 1:  # in no cycle
                self._stack.pop()
                self._waiting.pop()
                del self._index[frame.key]
                self._store(frame.key, evaluated)
                return evaluated
        if frame.low >= frame.index:
            while not self._settle(frame):
                pass
        self._stack.pop()
        if frame.low >= frame.index:
            answers = frame.answers or {}
            del self._waiting[frame.start :]
            for key, answer in answers.items():
                del self._index[key]
                self._store(key, answer)
            return answers[frame.key]
        self._stack[-1].low = min(self._stack[-1].low, frame.low)  # part of a component that is still open
        self.provisional += 1
        return self._unknown

    def _settle(self, frame: _Frame[Key, Answer]) -> bool:
        """Answer a component in rounds, unless it is part of a larger one.

        Returns False if new questions have joined the component, so that it must start over.
        """
        members = self._waiting[frame.start :]
        answers = frame.answers = dict.fromkeys(members, self._unknown)
        frame.asked_by = {}
        changes = dict.fromkeys(members, 0)
        due = members
        while due:
            current: dict[Key, Answer] = {}
            for key in due:
                frame.now = key
                current[key] = self._advance(answers[key], self._evaluate(key))
            if frame.low < frame.index:
                return True
            if len(self._waiting) > frame.start + len(members):
                return False
            changed = [key for key, answer in current.items() if answer != answers[key]]
            for key in changed:
                changes[key] += 1
                answers[key] = current[key] if changes[key] <= _MAX_CHANGES else self._unknown
            asking = dict.fromkeys(other for key in changed for other in frame.asked_by.get(key, ()))
            due = [key for key in asking if changes[key] <= _MAX_CHANGES]
        return True
