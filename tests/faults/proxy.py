"""A line to a PostgreSQL server that can be cut: a process that passes on what comes through a socket.

    python proxy.py SOCKET-OF-THE-SERVER OWN-SOCKET

A line "cut" on standard input ends all connections and refuses others, "mend" takes them again.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Line:
    """The line as its user has it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def cut(self) -> None:
        self._tell("cut")

    def mend(self) -> None:
        self._tell("mend")

    def _tell(self, what: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def line_to(socket: str, folder: Path) -> Iterator[Line]:
    """A line whose end is the socket in this folder, which libpq takes as a host."""
    words = [sys.executable, __file__, socket, str(folder / ".s.PGSQL.5432")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        line = Line(process)
        line.mend()
        try:
            yield line
        finally:
            process.kill()


class _Proxy:
    def __init__(self, there: str, here: str) -> None:
        self._there = there
        self._here = here
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def serve(self) -> None:
        """Do what standard input says, until it ends."""
        while line := await asyncio.to_thread(sys.stdin.readline):
            await (self._mend() if line == "mend\n" else self._cut())
            print("done", flush=True)  # noqa: T201

    async def _mend(self) -> None:
        self._server = await asyncio.start_unix_server(self._pass_on, self._here)
        Path(self._here).chmod(0o777)

    async def _cut(self) -> None:
        assert self._server is not None
        self._server.close()
        Path(self._here).unlink(missing_ok=True)
        for writer in tuple(self._open):
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, to = await asyncio.open_unix_connection(self._there)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, to}
        await asyncio.gather(_copy(reader, to), _copy(there, writer))
        self._open -= {writer, to}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while some := await reader.read(65536):
            writer.write(some)
            await writer.drain()
    writer.transport.abort()


if __name__ == "__main__":
    asyncio.run(_Proxy(*sys.argv[1:]).serve())
