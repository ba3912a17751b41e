"""Every error that this program raises on purpose, each with what happened and what to do about it.

    ConcordanceError
    ├── UserError            the question or the path is wrong: exit code 2
    │   ├── NotARepository   nothing there, not a folder, or no files checked out
    │   ├── NoPermission     the folder may not be read
    │   └── UnknownRevision  git does not know the revision
    ├── ToolFailed           an external program failed: exit code 1
    │   ├── ToolMissing      it is not installed
    │   └── ToolStopped      it took too long, or wrote too much
    ├── BrokenPlugin         a plug-in lacks a part of its protocol: exit code 1
    ├── StoreFailed          the store cannot be written: exit code 1
    ├── BookFailed           the book cannot be written: exit code 1
    ├── StoreBroken          the store cannot be read; a build replaces it
    └── Unreadable           one file cannot be read; it stays in the ledger, and the run continues

In: a message and what to do. Out: an exception that the command line prints without a traceback, before it exits with
the exception's exit code.
"""

from __future__ import annotations


class ConcordanceError(Exception):
    """Base class: what happened, and what to do about it."""

    exit_code = 1

    def __init__(self, message: str, what_to_do: str = "") -> None:
        super().__init__(message, what_to_do)  # both, so that the error survives being pickled by a worker process
        self.message = message
        self.what_to_do = what_to_do

    def __str__(self) -> str:
        return f"{self.message}. {self.what_to_do}" if self.what_to_do else self.message


class UserError(ConcordanceError):
    """An error that the user can fix."""

    exit_code = 2


class NotARepository(UserError):
    """The path cannot be documented."""


class NoPermission(UserError):
    """The path may not be read."""


class UnknownRevision(UserError):
    """Git does not know the revision."""


class ToolFailed(ConcordanceError):
    """An external program ended with an error."""


class BrokenPlugin(ConcordanceError):
    """A plug-in lacks a part of its folder's protocol."""


class ToolMissing(ToolFailed):
    """An external program is not installed."""


class ToolStopped(ToolFailed):
    """An external program took too long, or wrote too much."""


class StoreFailed(ConcordanceError):
    """The store cannot be written."""


class BookFailed(ConcordanceError):
    """The book cannot be written."""


class StoreBroken(ConcordanceError):
    """The store is damaged, was written by another version, or is not a store at all."""


class Unreadable(ConcordanceError):
    """One file cannot be read, and why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} cannot be read: {self.reason}"
