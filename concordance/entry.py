"""Where the program `concord` begins.

In: nothing. Out: the command line runs, imported only when the module path is rid of the current folder. Until the
command line is loaded there is nothing to clean up, so that Ctrl-C just ends the process, without Python's traceback.
"""

from __future__ import annotations

from concordance.base import startup


def main() -> None:
    """The program."""
    startup.harden()
    import importlib  # only now: a module of these names in the current folder must not be found
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    importlib.import_module("concordance.cli").main()
