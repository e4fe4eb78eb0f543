"""Real runs of Ray Tune: `python tune_runs.py FOLDER`. Says at the end that all is well, or ends with an error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import ray
from ray import tune
from ray.tune.schedulers import ASHAScheduler

from aegisbo import Optimizer
from aegisbo.integrations import AegisScheduler, AegisSearch

SPACE = {"x": tune.uniform(-5, 10), "model": {"depth": tune.randint(2, 9)}, "limit": 7}
TRIALS, AT_A_TIME = 8, 2


def trainable(config: dict[str, Any]) -> None:
    if config["model"]["depth"] > config["limit"]:
        raise RuntimeError("too deep")
    tune.report({"loss": (config["x"] - 1) ** 2 + config["model"]["depth"]})


def shallow(config: dict[str, Any]) -> None:
    trainable({**config, "limit": 99})


class Watched(AegisSearch):
    """Remembers how many trials were running at most."""

    most = 0

    def suggest(self, trial_id: str) -> Any:
        config = super().suggest(trial_id)
        self.most = max(self.most, len(self.optimizer.pending))
        return config


def fit(tuner: tune.Tuner, search: AegisSearch, trials: int) -> None:
    results = tuner.fit()
    states = [trial.state for trial in search.optimizer.trials]
    assert len(results) == len(states) == trials, states
    assert states.count("failed") == results.num_errors > 0, states
    assert states.count("done") == trials - results.num_errors, states
    best = results.get_best_result()
    assert search.optimizer.best.value == best.metrics["loss"]
    assert search.optimizer.best.params == {"x": best.config["x"], "model/depth": best.config["model"]["depth"]}
    assert best.config["limit"] == SPACE["limit"]


def with_errors_and_a_limit(folder: Path) -> None:
    search = Watched(seed=3, n_initial=6)
    settings = tune.TuneConfig(
        metric="loss", mode="min", search_alg=search, num_samples=TRIALS, max_concurrent_trials=AT_A_TIME
    )
    place = tune.RunConfig(name="errors", storage_path=str(folder), verbose=0)
    fit(tune.Tuner(trainable, param_space=SPACE, tune_config=settings, run_config=place), search, TRIALS)
    assert search.most == AT_A_TIME, search.most
    assert saved(folder / "errors").state() == search.optimizer.state()


def two_metrics(config: dict[str, Any]) -> None:
    tune.report({"gain": config["model"]["depth"] - config["x"] ** 2, "price": abs(config["x"] - 1), "other": "text"})


def for_a_front(folder: Path) -> None:
    search = AegisSearch(metric=["gain", "price"], mode=["max", "min"], seed=3, n_initial=6)
    settings = tune.TuneConfig(search_alg=search, num_samples=10, max_concurrent_trials=AT_A_TIME)
    place = tune.RunConfig(name="front", storage_path=str(folder), verbose=0)
    results = tune.Tuner(two_metrics, param_space=SPACE, tune_config=settings, run_config=place).fit()
    reported = [(result.metrics["gain"], result.metrics["price"]) for result in results]
    front = search.optimizer.result().front
    assert [trial.state for trial in search.optimizer.trials] == ["done"] * 10
    assert {(trial.measured["gain"], trial.measured["price"]) for trial in front} == {
        (gain, price)
        for gain, price in reported
        if not any(more >= gain and less <= price and (more, less) != (gain, price) for more, less in reported)
    }
    assert front[0].measured["gain"] == results.get_best_result("gain", "max").metrics["gain"]
    assert saved(folder / "front").state() == search.optimizer.state()


def long_training(config: dict[str, Any]) -> None:
    for step in range(1, 10):
        tune.report({"loss": (config["x"] - 1) ** 2 + config["model"]["depth"] + 1 / step})


def with_a_scheduler(folder: Path, scheduler: Any, name: str) -> None:
    search = AegisSearch(seed=3, n_initial=6, steps=9)
    settings = tune.TuneConfig(
        metric="loss", mode="min", search_alg=search, scheduler=scheduler, num_samples=16, max_concurrent_trials=1
    )
    place = tune.RunConfig(name=name, storage_path=str(folder), verbose=0)
    results = tune.Tuner(long_training, param_space=SPACE, tune_config=settings, run_config=place).fit()
    trials = search.optimizer.trials
    stopped = sum(trial.state == "stopped" for trial in trials)
    assert results.num_errors == 0
    assert 2 < stopped < 14, stopped
    for trial in trials:
        end = (trial.params["x"] - 1) ** 2 + trial.params["model/depth"]
        for report in trial.reports:
            assert abs(report.value - end - 1 / report.step) < 1e-9, trial
        assert (trial.reports[-1].step < 9) == (trial.state == "stopped"), trial
    assert sorted(len(trial.reports) for trial in trials) == sorted(
        result.metrics["training_iteration"] for result in results
    )
    assert search.optimizer.best.value == results.get_best_result().metrics["loss"]


class PowerCut(tune.Callback):
    """Ends the driver when five trials have ended, unless this was mended."""

    def __init__(self, mended: Path) -> None:
        self.mended = mended

    def on_step_end(self, iteration: int, trials: list[Any], **info: Any) -> None:
        if sum(trial.status == "TERMINATED" for trial in trials) >= 5 and not self.mended.exists():
            raise RuntimeError("power cut")


def broken_off_and_restored(folder: Path) -> None:
    mended, place = folder / "mended", folder / "restored"
    settings = tune.TuneConfig(metric="loss", mode="min", search_alg=AegisSearch(seed=3), num_samples=TRIALS)
    where = tune.RunConfig(name=place.name, storage_path=str(folder), verbose=0, callbacks=[PowerCut(mended)])
    with pytest.raises(Exception, match="power cut"):
        tune.Tuner(shallow, param_space=SPACE, tune_config=settings, run_config=where).fit()
    before = saved(place).trials
    assert 0 < len(before) < TRIALS
    mended.touch()
    results = tune.Tuner.restore(str(place), shallow, param_space=SPACE).fit()
    after = saved(place).trials
    assert [trial.state for trial in after] == ["done"] * TRIALS
    assert [trial.params for trial in after[: len(before)]] == [trial.params for trial in before]
    assert sorted(trial.value for trial in after) == sorted(result.metrics["loss"] for result in results)


def saved(folder: Path) -> Optimizer:
    """What the searcher of a run knew at the end."""
    search = AegisSearch()
    search.restore_from_dir(str(folder))
    return search.optimizer


if __name__ == "__main__":
    ray.init(num_cpus=AT_A_TIME, include_dashboard=False, log_to_driver=False)
    with_errors_and_a_limit(Path(sys.argv[1]))
    for_a_front(Path(sys.argv[1]))
    with_a_scheduler(Path(sys.argv[1]), AegisScheduler(steps=9), "ours")
    with_a_scheduler(Path(sys.argv[1]), ASHAScheduler(max_t=9, reduction_factor=3), "asha")
    broken_off_and_restored(Path(sys.argv[1]))
    ray.shutdown()
    sys.stdout.write("All is well.\n")
