"""A PostgreSQL server of the tests' own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def server() -> Iterator[str]:
    """The address of a fresh server that only this machine's root and `postgres`, or you, can reach.

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

        def pg_ctl(*arguments: str) -> None:
            command = [program, "--pgdata", f"{folder}/data", *arguments]
            subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)

        pg_ctl("init", "--options=--auth=trust --username=postgres")
        # By a socket in the folder, not by the network.
        pg_ctl("start", "--wait", "--log", f"{folder}/log", f"--options=-c listen_addresses='' -k {folder}")
        try:
            yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
        finally:
            pg_ctl("stop", "--mode=immediate")
