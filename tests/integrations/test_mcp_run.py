"""The official SDK's client drives the seat of a run in another process, over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, types

import aegisbo
from aegisbo.events import Added, Changed
from aegisbo.study.reading import exists, read_events
from aegisbo.study.replay import replay

pytestmark = pytest.mark.long
PATIENCE = 100.0
COMMAND = ("-c", "from aegisbo.cli import main; main()")
RUN = """
import sys, time, uuid
from pathlib import Path
import aegisbo

FOLDER = Path(sys.argv[1])

def slow(x, y):
    FOLDER.joinpath(f"begun-{uuid.uuid4()}").touch()
    while len(list(FOLDER.glob("begun-*"))) > 8 and not FOLDER.joinpath("advised").exists():
        time.sleep(0.02)
    return (x - 3) ** 2 + y

if __name__ == "__main__":
    space = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}
    study = FOLDER / "run.db"
    aegisbo.minimize(slow, space, budget=20, workers=2, study=study, seed=0, strategy="random", progress=False)
"""


async def until_begun(client: Client, count: int) -> dict[str, Any]:
    while True:
        status = json.loads((await client.call_tool("status", {})).content[0].text)
        if sum(status["trials"].values()) >= count:
            return status
        await asyncio.sleep(0.1)


async def advise(path: Path) -> list[tuple[bool, Any]]:
    """What a client is told while the ninth and the tenth evaluation wait for it."""
    words = ["mcp", str(path), "--may", "add,budget=20-24", "--share", "0.25"]
    server = StdioServerParameters(command=sys.executable, args=[*COMMAND, *words], env=dict(os.environ))
    async with Client(server, client_info=types.Implementation(name="claude", version="1")) as client:
        assert (await until_begun(client, 10))["running"]
        calls = [("add", {"point": {"x": 3.0, "y": 2.0}}), ("set", {"name": "budget", "value": 24})]
        calls += [("add", {"point": {"x": k / 10, "y": 2.5}}) for k in range(9)]
        answers = [await client.call_tool(name, given) for name, given in calls]
        return [(bool(answer.is_error), answer.content[0].text) for answer in answers]


def test_a_client_advises_a_run_that_goes_on(tmp_path: Path) -> None:
    path, script = tmp_path / "run.db", tmp_path / "run.py"
    script.write_text(RUN)
    driver = subprocess.Popen([sys.executable, str(script), str(tmp_path)])
    try:

        async def advised() -> list[tuple[bool, Any]]:
            while not exists(path):
                await asyncio.sleep(0.05)
            return await advise(path)

        answers = asyncio.run(asyncio.wait_for(advised(), PATIENCE))
        tmp_path.joinpath("advised").touch()
        assert driver.wait(PATIENCE) == 0
    finally:
        driver.kill()
        driver.wait()
    assert [failed for failed, _ in answers] == [False, False, False, *[True] * 8]  # 3 of 10 and 2 that wait
    assert "The share of advisers is used up" in answers[-1][1]
    result = aegisbo.load(path)
    caused = [event for event in read_events(path) if isinstance(event, Added | Changed)]
    assert [event.author for event in caused] == ["claude"] * 3
    assert result.nfev == 24
    assert result.trials[10].author == "claude"
    assert (result.trials[10].params, result.fun) == ({"x": 3.0, "y": 2.0}, 2.0)
    assert replay(path).faithful
