"""The live page: a small server on this machine's own address, which only reads.

Python's own server is enough for a page that one person looks at from the same machine, and spares a dependency. It
answers only GET, only what `_Handler.do_GET` lists, and only if it is addressed by a name of this machine: a
foreign page cannot reach it by pointing its own name at this address.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aegisbo.address import Place, place_of
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.review.board import Board
from aegisbo.review.html import LIVE, page
from aegisbo.review.patch import patch_between

LOOPBACK = "127.0.0.1"
PORT = 8700  # the default; if it is taken, any free one
NAMES = (LOOPBACK, "localhost")  # under which the server may be addressed
HEARTBEAT = 10.0  # seconds after which a silent connection is tried
FAREWELL = 2.0  # seconds for the last news to leave
PATIENCE = 30.0  # seconds for a request to arrive, or an answer to leave


class Server(ThreadingHTTPServer):
    """Shows some studies on the loopback address."""

    daemon_threads = True

    def __init__(self, board: Board, port: int) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.board = board
        self.listeners: set[threading.Thread] = set()  # to news

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/"

    def close(self) -> None:
        """End all answers and release the port."""
        self.board.stop()
        for listener in tuple(self.listeners):
            listener.join(FAREWELL)
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a reader that went away; show other errors as usual."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def server_of(paths: Sequence[Place], port: int | None = None) -> Server:
    """A server for these studies, which may not exist yet, at this port; by default at `PORT` or any free one."""
    board = Board(paths)
    try:
        server = Server(board, PORT if port is None else port)
    except OSError as error:
        if port is not None:
            raise InvalidInput(f"Port {port} cannot be used ({error.strerror}): name another, or 0 for any.") from error
        server = Server(board, 0)
    board.start()
    return server


def beside() -> None:
    """Serve the study that standard input names, while that is open, that is, until the parent process ends."""
    server = server_of([place_of(sys.stdin.readline().removesuffix("\n"))])
    sys.stdout.write(f"{server.address}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    server.close()


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = PATIENCE

    def do_GET(self) -> None:
        """Answer the paths listed here; there are no others."""
        if self.headers.get("Host", "") not in {f"{name}:{self.server.server_port}" for name in NAMES}:
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", "Address this server by its own name.")
            return
        address = urlsplit(self.path)
        match address.path:
            case "/":
                self._send(HTTPStatus.OK, "text/html", page("aegisbo", LIVE))
            case "/api/events":
                self._events()
            case "/api/front":
                self._front({name: values[-1] for name, values in parse_qs(address.query).items()})
            case _:
                self._send(HTTPStatus.NOT_FOUND, "text/plain", "There is nothing here.")

    def _front(self, query: dict[str, str]) -> None:
        try:
            facts = self.server.board.front(int(query["study"]), int(query["trial"]))
        except (KeyError, ValueError):
            self._send(HTTPStatus.BAD_REQUEST, "text/plain", "Give study and trial, both numbers.")
        except AegisError as error:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", str(error))
        else:
            self._send(HTTPStatus.OK, "application/json", _json(facts))

    def _events(self) -> None:
        """Send everything first, then the changes, until the reader goes away."""
        self._head(HTTPStatus.OK, "text/event-stream")
        listeners, me = self.server.listeners, threading.current_thread()
        listeners.add(me)
        try:
            self._follow(self.server.board)
        finally:
            listeners.discard(me)

    def _follow(self, board: Board) -> None:
        version, sent = board.facts()
        self._tell("all", sent)
        while not board.stopped:
            board.wait(version, HEARTBEAT)
            version, now = board.facts()
            change = patch_between(sent, now)
            if change is None:
                self._write(": still here\n\n")
            else:
                self._tell("patch", change)
            sent = now

    def _tell(self, kind: str, value: Any) -> None:
        self._write(f"event: {kind}\ndata: {_json(value)}\n\n")

    def _send(self, status: HTTPStatus, kind: str, text: str) -> None:
        self._head(status, kind, len(text.encode()))
        self._write(text)

    def _head(self, status: HTTPStatus, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in {
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def _write(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the run."""

    def version_string(self) -> str:
        """Do not reveal the version of Python."""
        return "aegisbo"


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
