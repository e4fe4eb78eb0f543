"""A run that its rule ends: when the rule is asked, what it leaves behind, and how such a run goes on."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import aegisbo
from aegisbo.errors import InvalidInput
from aegisbo.optimizer import Core, Settings
from aegisbo.options import Options
from aegisbo.runners.loop import run
from aegisbo.runners.progress import Teller
from aegisbo.runners.protocol import StopRun
from aegisbo.runners.watch import GROWTH, Watch
from aegisbo.runners.work import work
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import exponential
from aegisbo.stop_when import StopWhen
from aegisbo.study import Study, change
from aegisbo.study.reading import read_events
from aegisbo.study.replay import replay

SPACE = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}
PATIENCE = "no 1% better in 5"


def flat(x: float, y: float) -> float:
    return 3.0


def made(study: Path | None, stop_when: str | None = PATIENCE, fun: Any = flat, budget: int = 12, **more: Any) -> Any:
    options = {"executor": "serial", "seed": 1, "progress": False, "strategy": "random", **more}
    return aegisbo.minimize(fun, SPACE, budget=budget, study=study, stop_when=stop_when, **options)


def test_patience_ends_a_run_and_the_log_says_why(tmp_path: Path) -> None:
    result = made(tmp_path / "run.db")
    assert result.nfev == 6  # the first one, and five that were not better
    assert result.message.startswith("None of the last 5 evaluations was 1% better (stop_when='no 1% better in 5').")
    assert [event.body["message"] for event in read_events(tmp_path / "run.db") if event.kind == "closed"] == [
        result.message
    ]
    assert replay(tmp_path / "run.db").faithful


def test_the_same_call_does_not_go_on_and_one_without_the_rule_does(tmp_path: Path) -> None:
    made(tmp_path / "run.db")
    again = made(tmp_path / "run.db")
    assert again.nfev == 6
    assert "stop_when" in again.message
    assert made(tmp_path / "run.db", None, budget=9).nfev == 9


def test_a_rule_can_be_set_for_the_next_call(tmp_path: Path) -> None:
    made(tmp_path / "run.db", None, budget=4)
    assert change(tmp_path / "run.db", stop_when="no 2% better in the last 7") == {"stop_when": "no 2% better in 7"}
    assert made(tmp_path / "run.db", None).nfev == 8
    change(tmp_path / "run.db", stop_when=None)
    assert made(tmp_path / "run.db", None).nfev == 12


def test_copies_heed_it(tmp_path: Path) -> None:
    def judge(optimizer: Core, rule: StopWhen) -> str | None:
        return f"{rule} holds." if len(optimizer.trials) >= 3 else None

    settings = Settings.checked(SPACE, strategy="random", seed=1)
    found = work(flat, tmp_path / "run.db", settings, judge=judge, budget=9, stop_when=PATIENCE, progress=False)
    assert found.ending == "no 1% better in 5 holds."
    assert found.nfev < 9


def test_a_bad_sentence_is_refused_before_anything_runs() -> None:
    with pytest.raises(InvalidInput, match="stop_when is 'when done': write a sentence such as"):
        made(None, "when done")


def watching(rule: str, asked: list[int]) -> Watch:
    def judge(optimizer: Core, said: StopWhen) -> None:
        asked.append(sum(optimizer.tally()[:2]))

    core = Core(Settings.checked(SPACE, strategy="random", seed=1))
    quiet: Any = lambda job: None  # noqa: E731
    teller: Teller = quiet
    return Watch(core, (), Options(budget=60, stop_when=rule), teller, None, judge)


def test_a_chance_is_asked_for_seldom_and_while_all_workers_are_busy() -> None:
    asked: list[int] = []
    watch = watching("chance of 1% better in the next 9 < 0.1", asked)
    workers = VirtualWorkers(lambda x: flat(**x), 3, exponential, 1)
    idle: list[int] = []

    def ponder() -> None:
        if 0 < len(watch.optimizer.pending) < workers.capacity and len(watch.optimizer.trials) < 60:
            idle.append(len(watch.optimizer.trials))
        watch.ponder()

    run(Study(watch.optimizer), workers, 60, options=watch.options, watch=watch, ponder=ponder)
    assert idle == []
    assert asked == sorted(set(asked))
    grown = [later / earlier for earlier, later in pairwise(asked[1:])]
    assert min(grown) >= GROWTH
    assert asked[-1] > 50


def test_patience_is_asked_after_each_result() -> None:
    asked: list[int] = []
    watch = watching(PATIENCE, asked)
    workers = VirtualWorkers(lambda x: flat(**x), 1, exponential, 1)
    run(Study(watch.optimizer), workers, 8, options=watch.options, watch=watch, ponder=watch.ponder)
    assert asked == [*range(9)]


def test_a_rule_that_ends_a_run_leaves_what_is_running_pending() -> None:
    watch = watching(PATIENCE, [])

    def ponder() -> None:
        if len(watch.optimizer.trials) == 7:
            raise StopRun("enough")

    workers = VirtualWorkers(lambda x: flat(**x), 2, exponential, 1)
    record = run(Study(watch.optimizer), workers, 20, options=watch.options, watch=watch, ponder=ponder)
    assert record.message == "enough"
    assert len(watch.optimizer.trials) == 7


@pytest.mark.long
def test_a_bowl_is_left_when_its_bottom_is_known() -> None:
    def bowl(x: float, y: float) -> float:
        return (x - 3.0) ** 2 / 10.0 + 10.0 * (y - 2.4) ** 2

    result = made(None, "chance of 1% better in the next 20 < 0.05", bowl, 60, strategy="aegis")
    assert 10 <= result.nfev < 40
    assert "Going on is hardly worth it: 20 more evaluations have a" in result.message
    assert result.fun < 0.05
