"""The page about servers works as printed: its statements and scripts run in order, on a server of the tests' own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from postgresql import server
from printed_page import DOCS, PATIENCE, PIECE, blocks_of

import aegisbo
from aegisbo.study.replay import replay

ADDRESS = "alice@db.example/studies"


def test_every_block_says_what_it_is() -> None:
    kinds = [kind for kind, _ in blocks_of("server.md")]
    assert set(kinds) == {"python", "toml", "sh", "sql", "console", "text"}
    assert len(kinds) == DOCS.joinpath("server.md").read_text("utf-8").count("\n```") // 2


@pytest.mark.long
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "XDG_STATE_HOME": str(tmp_path)}
    said, base = "", "postgres"
    with server() as one:
        for name, kind, block in PIECE.findall(DOCS.joinpath("server.md").read_text("utf-8")):
            if name:
                tmp_path.joinpath(name).write_text(block, "utf-8")
            elif kind == "sql":
                one.execute(block, base)
                base = "studies"  # once there is one
            elif kind == "sh":
                here = block.replace(f"{ADDRESS}?", f"alice@/studies?host={one.folder}&")
                here = here.replace(f'{ADDRESS}"', f'alice@/studies?host={one.folder}"')
                done = subprocess.run(
                    ["sh", "-euc", here],
                    cwd=tmp_path,
                    env=env,
                    capture_output=True,
                    text=True,
                    timeout=PATIENCE,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
                said += done.stdout
        study = f"postgresql://alice@/studies?host={one.folder}&study=run7"
        assert aegisbo.load(study).nfev == 40
        assert replay(tmp_path / "run7.db").faithful
        assert one.execute("SELECT name FROM aegisbo.studies", "studies") == [("run7",)]
    assert "The budget is spent." in said
