"""Entry point of the `concord` program.

Removes the current folder from the module path, then imports and runs the command line. Until the command line is
loaded there is nothing to clean up, so Ctrl-C simply ends the process, without a Python traceback.
"""

from __future__ import annotations

from concordance.base import startup


def main() -> None:
    """Run the `concord` program."""
    startup.harden()
    import enum  # imported only now, so that modules of these names in the current folder are not found
    import importlib
    import signal

    # CPython 3.11 still has this method, which 3.12 removed because nothing needs it. With it, naming a member of an
    # enumeration takes 0.2 µs instead of 0.03, which adds up to 8 % of rendering a book.
    if "__getattr__" in vars(enum.EnumType):
        delattr(enum.EnumType, "__getattr__")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    importlib.import_module("concordance.cli").main()
