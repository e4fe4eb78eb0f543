"""A PostgreSQL server of the tests' own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Server:
    """A server in a folder, which is reached by a socket there."""

    program: str  # that starts and stops it
    folder: str
    user: str | None  # as whom it runs
    connections: int

    @property
    def base(self) -> str:
        return self.as_role("postgres")

    @property
    def optuna(self) -> str:
        return f"postgresql+psycopg://postgres@/postgres?host={self.folder}"

    @property
    def socket(self) -> str:
        return f"{self.folder}/.s.PGSQL.5432"

    def as_role(self, role: str, base: str = "postgres") -> str:
        return f"postgresql://{role}@/{base}?host={self.folder}"

    def study(self, name: str) -> str:
        return f"{self.base}&study={name}"

    def execute(self, statements: str, base: str = "postgres") -> list[tuple[Any, ...]]:
        """What the last of these statements finds."""
        import psycopg

        with closing(psycopg.connect(self.as_role("postgres", base), autocommit=True)) as link:
            for statement in filter(str.strip, statements.split(";")):
                cursor = link.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def guard(self, role: str, password: str) -> None:
        """Make a role that must give a password."""
        self.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'")
        rights = Path(self.folder, "data", "pg_hba.conf")
        rights.write_text(f"local all {role} scram-sha-256\n{rights.read_text()}")
        self._run("reload")

    def start(self) -> None:
        options = f"-c listen_addresses='' -k {self.folder} -c max_connections={self.connections}"
        self._run("start", "--wait", "--log", f"{self.folder}/log", f"--options={options}")

    def stop(self, mode: str) -> None:
        self._run("stop", "--wait", f"--mode={mode}")

    def restart(self, mode: str) -> None:
        self.stop(mode)
        self.start()

    def _run(self, *arguments: str) -> None:
        command = [self.program, "--pgdata", f"{self.folder}/data", *arguments]
        subprocess.run(command, user=self.user, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def server(connections: int = 100) -> Iterator[Server]:
    """A fresh server that only this machine's root and `postgres`, or you, can reach.

    Root may not run the server, so for root it runs as the user `postgres`, who comes with Debian's package.
    """
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed: pip install 'psycopg[binary]'")
    program = shutil.which("pg_ctl") or next(map(str, Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")), None)
    if program is None:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    user = "postgres" if os.getuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        if user:
            shutil.chown(folder, user)
        one = Server(program, folder, user, connections)
        one._run("init", "--options=--auth=trust --username=postgres")
        one.start()
        try:
            yield one
        finally:
            one.stop("immediate")
