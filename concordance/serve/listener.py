"""Open the server's socket, and run the server until a signal stops it.

In: a host, and optionally a port. Out: a listening socket, and the address to open in a browser.
"""

from __future__ import annotations

import asyncio
import signal
import socket

from concordance.base import forks
from concordance.base.errors import UserError
from concordance.serve.server import Server

PORT = 8177  # default port


def open_socket(host: str, port: int | None) -> socket.socket:
    """Return a listening socket: on the given port, else on the default port, else on any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = (port,) if port is not None else (PORT, 0)
    for number in tried:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(512)
        except OSError as error:
            listening.close()
            if number != tried[-1]:
                continue
            advice = "Try another --port or --host, or leave --port out"
            raise UserError(f"cannot listen on {host}:{number}: {error.strerror or error}", advice) from error
        listening.setblocking(False)
        return listening
    raise UserError("no port is free", "Choose one with --port")


def address_of(host: str, listening: socket.socket) -> str:
    """Return the address to open in a browser on this machine."""
    shown = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}/"


def run(web: Server, listening: socket.socket) -> int:
    """Serve until a signal arrives, and return its number: Ctrl-C, SIGTERM or SIGHUP, except those that were ignored
    when the program was started."""
    return asyncio.run(_serve_until_signal(web, listening))


async def _serve_until_signal(web: Server, listening: socket.socket) -> int:
    until = asyncio.Event()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        until.set()

    for number in forks.SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, stop, number)
    await web.run(listening, until)
    return received[0]
