"""Where Box2D has no wheel, `make box2d` compiles it as the wheel computes, or says in a line that it cannot."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


def made(folder: Path, pip: str) -> subprocess.CompletedProcess[str]:
    """What `make box2d` does in an environment with this pip."""
    environment = folder / "env"
    (environment / "bin").mkdir(parents=True)
    environment.joinpath("bin", "pip").write_text(f"#!/bin/sh\n{pip}\n")
    environment.joinpath("bin", "pip").chmod(0o755)
    (environment / ".core").touch()
    name = os.path.relpath(environment, ROOT)  # as in the Makefile
    return subprocess.run(["make", "-s", "box2d", f"VENV={name}"], cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_products_and_sums_are_not_fused(tmp_path: Path) -> None:
    done = made(tmp_path, f'echo "$CFLAGS|$CXXFLAGS|$PATH|$*" >> {tmp_path}/calls')
    assert done.returncode == 0
    tools, compiled = tmp_path.joinpath("calls").read_text("utf-8").splitlines()
    assert "swig" in tools
    flags, more, path, arguments = compiled.split("|")
    assert flags == more == "-ffp-contract=off"
    assert Path(path.split(":")[0]).resolve() == tmp_path / "env" / "bin"  # where swig is
    assert arguments.split()[-2:] == ["--no-build-isolation", "box2d-py==2.3.8"]


def test_without_a_compiler_it_says_so_in_one_line_and_goes_on(tmp_path: Path) -> None:
    done = made(tmp_path, "case $* in *box2d*) echo 400 lines of a compiler >&2; exit 1;; esac")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "tests of robot pushing are skipped" in done.stderr
