"""Enough of SLURM to test what is sent to it: sbatch, srun, scancel and sacct, where a minute lasts a second.

`python fake_slurm.py COMMAND ...`; the folder is in FAKE_SLURM.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ["FAKE_SLURM"])


def sbatch(script: str) -> None:
    if (FOLDER / "full").exists():
        sys.exit("sbatch: error: QOSMaxSubmitJobPerUserLimit")
    # submitit remembers the states of all jobs that this process ever had, by number.
    number = int(os.environ["FAKE_SLURM_FIRST"]) + len(list(FOLDER.glob("*.sh")))
    (FOLDER / f"{number}.sh").write_text(Path(script).read_text())
    _run("node", str(number))
    sys.stdout.write(f"Submitted batch job {number}\n")


def node(number: str) -> None:
    """Where the job runs: until it ends, or its time limit."""
    script = FOLDER / f"{number}.sh"
    limit = re.search(r"--time=(\d+)", script.read_text())
    assert limit is not None
    ids = {"SLURM_JOB_ID": number, "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0"}
    job = subprocess.Popen(
        ["bash", str(script)],
        env={**os.environ, **ids, "SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES": "1"},
        start_new_session=True,
    )
    (FOLDER / f"{number}.process").write_text(str(job.pid))
    try:
        state = "COMPLETED" if job.wait(int(limit[1])) == 0 else "FAILED"
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        state = "TIMEOUT"
    (FOLDER / f"{number}.state").write_text(state)


def srun(*words: str) -> None:
    rest = list(words)
    while rest[0].startswith("--"):
        rest = rest[1:] if rest[0] == "--unbuffered" else rest[2:]
    os.execvp(rest[0], rest)


def scancel(number: str) -> None:
    os.killpg(int((FOLDER / f"{number}.process").read_text()), signal.SIGKILL)


def sacct(*words: str) -> None:
    sys.stdout.write("JobID|State|NodeList\n")
    for number in (word for word in words if word.isdigit()):
        state = FOLDER / f"{number}.state"
        sys.stdout.write(f"{number}|{state.read_text() if state.exists() else 'RUNNING'}|here\n")


def _run(*words: str) -> None:
    quiet = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, __file__, *words], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )


def install() -> Path:
    """A folder for the PATH that has the commands."""
    programs = FOLDER / "bin"
    programs.mkdir()
    for command in ("sbatch", "srun", "scancel", "sacct"):
        words = shlex.join([sys.executable, __file__, command])
        (programs / command).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (programs / command).chmod(0o755)
    return programs


if __name__ == "__main__":
    {each.__name__: each for each in (sbatch, node, srun, scancel, sacct)}[sys.argv[1]](*sys.argv[2:])
