"""A study for Weights & Biases, offline, read back from the files that `wandb sync` would send."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tracked import require, run

from aegisbo.errors import InvalidInput

require("wandb")
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # of W&B and what it imports

BLOCK = 32768  # bytes; records are framed as in a log of LevelDB


def records(file: Path) -> Iterator[Any]:
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, part = file.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        part += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield Record.FromString(part)
            part = b""


def logged(folder: Path) -> list[dict[str, Any]]:
    """What each file says: its run, configuration, summary, and history."""
    found = []
    for file in sorted(folder.glob("wandb/offline-run-*/*.wandb")):
        told: dict[str, Any] = {"config": {}, "summary": {}, "history": []}
        for record in records(file):
            if record.HasField("run"):
                told["run"] = record.run
                told["config"] = {each.key: json.loads(each.value_json) for each in record.run.config.update}
            elif record.HasField("summary"):
                told["summary"] |= {each.key: json.loads(each.value_json) for each in record.summary.update}
            elif record.HasField("history"):
                told["history"].append(
                    {each.nested_key[0]: json.loads(each.value_json) for each in record.history.item}
                )
            elif record.HasField("exit"):
                told["exit"] = record.exit.exit_code
        found.append(told)
    return found


def test_trials_are_runs_in_the_group_of_their_study_each_once(tmp_path: Path) -> None:
    from aegisbo.integrations import WandbCallback

    for budget in (2, 4, 4):
        result = run(tmp_path, budget, WandbCallback("tuning", mode="offline", dir=str(tmp_path)))
    files = logged(tmp_path)
    assert len({each["run"].run_group for each in files}) == 1
    assert {each["run"].project for each in files} == {"tuning"}
    trials = {each["run"].display_name: each for each in files if each["run"].job_type == "trial"}
    whole = [each for each in files if each["run"].job_type == "study"]
    assert len(files) == len(trials) + len(whole) == 4 + 2  # the third call has nothing to log
    good, failed = trials["trial 0"], trials["trial 1"]
    assert {name: good["config"][name] for name in ("lr", "act", "n")} == {"lr": 1.0, "act": "a", "n": 2}
    assert {name: good["summary"][name] for name in ("value", "latency", "state")} == {
        "value": 6.0,
        "latency": 1.0,
        "state": "done",
    }
    assert [(each["_step"], each["reported"]) for each in good["history"]] == [(1, 1.0), (2, 0.5)]
    assert (good["exit"], failed["exit"]) == (0, 1)
    assert failed["summary"]["reason"] == "ValueError: diverged"
    assert len({each["run"].run_id for each in whole}) == 1
    history = [row for each in whole for row in each["history"]]
    assert [row["_step"] for row in history] == [1, 2, 3, 4]
    assert history[-1]["best"] == result.fun


def test_what_the_callback_gives_itself_and_a_missing_key_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aegisbo.integrations import WandbCallback

    with pytest.raises(InvalidInput, match=r"gives group to wandb\.init itself"):
        WandbCallback(group="mine", mode="offline")
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with pytest.raises(InvalidInput, match="no API key: run `wandb login`"):
        WandbCallback("tuning")
