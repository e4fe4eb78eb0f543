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
import sys, time
import aegisbo

def slow(x, y):
    time.sleep(0.2)
    return (x - 3) ** 2 + y

if __name__ == "__main__":
    space = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}
    aegisbo.minimize(slow, space, budget=20, workers=2, study=sys.argv[1], seed=0, strategy="random", progress=False)
"""


async def until_begun(client: Client, count: int) -> dict[str, Any]:
    while True:
        status = json.loads((await client.call_tool("status", {})).content[0].text)
        if sum(status["trials"].values()) >= count:
            return status
        await asyncio.sleep(0.1)


async def advise(path: Path) -> list[tuple[bool, Any]]:
    words = ["mcp", str(path), "--may", "add,budget=20-24", "--share", "0.25"]
    server = StdioServerParameters(command=sys.executable, args=[*COMMAND, *words], env=dict(os.environ))
    async with Client(server, client_info=types.Implementation(name="claude", version="1")) as client:
        assert (await until_begun(client, 8))["running"]
        calls = [("add", {"point": {"x": 3.0, "y": 2.0}}), ("set", {"name": "budget", "value": 24})]
        calls += [("add", {"point": {"x": k / 10, "y": 2.5}}) for k in range(9)]
        return [
            (bool(answer.is_error), answer.content[0].text)
            for answer in [await client.call_tool(name, given) for name, given in calls]
        ]


def test_a_client_advises_a_run_that_goes_on(tmp_path: Path) -> None:
    path, script = tmp_path / "run.db", tmp_path / "run.py"
    script.write_text(RUN)
    driver = subprocess.Popen([sys.executable, str(script), str(path)])
    try:

        async def advised() -> list[tuple[bool, Any]]:
            while not exists(path):
                await asyncio.sleep(0.05)
            return await asyncio.wait_for(advise(path), PATIENCE)

        answers = asyncio.run(advised())
        assert driver.wait(PATIENCE) == 0
    finally:
        driver.kill()
        driver.wait()
    assert [failed for failed, _ in answers[:2]] == [False, False]
    assert answers[-1][0]
    assert "The share of advisers is used up" in answers[-1][1]
    result = aegisbo.load(path)
    caused = [event for event in read_events(path) if isinstance(event, Added | Changed)]
    assert {event.author for event in caused} == {"claude"}
    assert len(caused) <= 0.25 * 24
    assert result.nfev == 24
    assert next(trial.params for trial in result.trials if trial.author == "claude") == {"x": 3.0, "y": 2.0}
    assert result.fun == 2.0
    assert replay(path).faithful
