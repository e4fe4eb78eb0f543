"""A study for TensorBoard, read back by TensorBoard's own reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tracked import require, run

require("tensorboard")
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # of TensorBoard and what it imports


def events(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(folder)).Reload()


def scalars(folder: Path, tag: str) -> list[tuple[int, float]]:
    return [(each.step, each.value) for each in events(folder).Scalars(tag)]


def hparams(folder: Path, tag: str) -> Any:
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    return HParamsPluginData.FromString(events(folder).SummaryMetadata(tag).plugin_data.content)


def test_a_trial_is_a_folder_in_that_of_the_study(tmp_path: Path) -> None:
    from aegisbo.integrations import TensorBoardCallback

    result = run(tmp_path, 4, TensorBoardCallback(tmp_path / "logs"))
    (whole,) = (tmp_path / "logs").iterdir()
    assert whole.name.startswith("run-")
    assert sorted(each.name for each in whole.iterdir() if each.is_dir()) == [f"trial-000{k}" for k in range(4)]
    assert scalars(whole / "trial-0000", "value") == [(0, 6.0)]
    assert scalars(whole / "trial-0000", "reported") == [(1, 1.0), (2, 0.5)]
    start = hparams(whole / "trial-0000", "_hparams_/session_start_info").session_start_info
    assert start.hparams["lr"].number_value == 1.0
    assert start.hparams["act"].string_value == "a"
    assert start.hparams["move"].string_value == "initial"
    ends = [hparams(whole / f"trial-000{k}", "_hparams_/session_end_info").session_end_info for k in (0, 1)]
    assert [end.status for end in ends] == [1, 2]  # success, failure
    assert ends[0].end_time_secs == result.trials[0].ended
    (reason,) = events(whole / "trial-0001").Tensors("reason")
    assert reason.tensor_proto.string_val == [b"ValueError: diverged"]
    assert [step for step, _ in scalars(whole, "best")] == [1, 2, 3, 4]
    assert scalars(whole, "best")[-1][1] == pytest.approx(result.fun, rel=1e-6)


def test_a_call_that_continues_a_study_goes_on_in_its_folder(tmp_path: Path) -> None:
    from aegisbo.integrations import TensorBoardCallback

    for budget in (2, 4, 4):
        run(tmp_path, budget, TensorBoardCallback(tmp_path / "logs", name="my study"))
    (whole,) = (tmp_path / "logs").iterdir()
    assert whole.name.startswith("my-study-")
    assert [step for step, _ in scalars(whole, "best")] == [1, 2, 3, 4]
    for k in range(4):
        assert len(list((whole / f"trial-000{k}").iterdir())) == 1
