"""The searcher of Ray Tune: what it makes of a search space, and real Tune runs with errors, a limit and a restart."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aegisbo import Choice, Int, Optimizer, Real
from aegisbo.errors import InvalidInput, Stopped, UnknownName

pytest.importorskip("ray.tune", exc_type=ImportError, reason="pip install -r tests/engines/requirements.txt")

from ray import tune

from aegisbo.integrations import AegisScheduler, AegisSearch
from aegisbo.outcome import Outcome

HERE = Path(__file__).parent
PATIENCE = 900.0
SPACE = {"x": tune.uniform(-5, 10), "model": {"depth": tune.randint(2, 9)}, "steps": 100}


def searcher(space: dict[str, Any] = SPACE, mode: str = "min", **options: Any) -> AegisSearch:
    search = AegisSearch(**{"seed": 1, "n_initial": 4, **options})
    assert search.set_search_properties("loss", mode, space)
    return search


@pytest.mark.parametrize(
    ("domain", "parameter"),
    [
        (tune.uniform(-5, 10), Real(-5, 10)),
        (tune.loguniform(1e-4, 0.1), Real(1e-4, 0.1, log=True)),
        (tune.randint(2, 9), Int(2, 8)),
        (tune.lograndint(1, 1025), Int(1, 1024, log=True)),
        (tune.qrandint(3, 17, 4), Int(4, 16, step=4)),
        (tune.qrandint(3, 9, 1), Int(3, 8)),
        (tune.choice(["relu", "tanh", None]), Choice(["relu", "tanh", None])),
    ],
)
def test_a_domain_becomes_a_parameter_with_the_same_values(domain: Any, parameter: Any) -> None:
    search = searcher({"p": domain})
    assert search.optimizer.space.parameters == {"p": parameter}
    for k in range(3):
        assert domain.is_valid(search.suggest(str(k))["p"])


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (tune.quniform(-0.5, 1.0, 0.25), {-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0}),
        (tune.qloguniform(0.5, 2.0, 0.5), {0.5, 1.0, 1.5, 2.0}),
    ],
)
def test_quantized_numbers_are_all_multiples_and_no_others(domain: Any, values: set[float]) -> None:
    search = searcher({"p": domain})
    found = [search.suggest(str(k)) for k in range(len(values))]
    assert {config["p"] for config in found} == values
    assert set(domain.sample(size=200)) == values
    assert search.suggest("one too many") == search.FINISHED


@pytest.mark.parametrize(
    ("space", "complaint"),
    [
        ({"x": tune.randn()}, r"Parameter 'x': aegisbo cannot search a Float with _Normal: use tune\.uniform"),
        ({"a": {"b": tune.sample_from(lambda: 1)}}, r"Parameter 'a/b': aegisbo cannot search a Function: use"),
        ({"x": tune.grid_search([1, 2])}, r"'x' is a grid_search: use tune\.uniform"),
        ({"x": 3}, "nothing to search: use"),
        ({"x": tune.choice([[1], [2]])}, r"Parameter 'x': Choice cannot hold \[1\]: use text"),
        ({"x": [tune.uniform(0, 1)]}, "use names in nested dicts"),
        ({"a/b": tune.uniform(0, 1)}, "use names in nested dicts"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_the_remedy(space: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        searcher(space)


@pytest.mark.parametrize(
    ("metric", "mode"),
    [
        (["a", "b"], ["min"]),
        (["a", "b"], None),
        (["a", "b"], "min"),
        ("a", ["min", "max"]),
        (["a"], ["min"]),
        (["a", "b"], ["min", "obs"]),
        (list("abcde"), ["min"] * 5),
    ],
)
def test_metrics_and_modes_must_be_paired(metric: Any, mode: Any) -> None:
    with pytest.raises(InvalidInput, match=r"give one of each, or a list of two to 4 metrics and one with 'min' or"):
        AegisSearch(metric=metric, mode=mode)


def test_several_metrics_are_objectives() -> None:
    search = AegisSearch(metric=["gain", "price"], mode=["max", "min"], seed=1, n_initial=4, limits=["price <= 20"])
    assert search.set_search_properties(None, None, SPACE)
    assert search.metric == ["gain", "price"]  # which Tune wants to be reported
    space, objectives = {"x": (-5, 10), "model/depth": Int(2, 8)}, {"gain": "max", "price": "min"}
    twin = Optimizer(space, seed=1, n_initial=4, objectives=objectives, limits=["price <= 20"])
    for k in range(8):
        config, trial = search.suggest(f"t{k}"), twin.ask()
        assert config == {"x": trial.params["x"], "model": {"depth": trial.params["model/depth"]}}
        if k % 2:  # the others stay pending
            numbers = {"gain": config["model"]["depth"], "price": config["x"] ** 2}
            search.on_trial_complete(f"t{k}", {**numbers, "time_total_s": 1.0, "config": config})
            twin.tell(trial, numbers)
    assert search.optimizer.state() == twin.state()
    for number, result in enumerate([{"gain": 1.0}, {"gain": 1.0, "price": math.nan}, {"gain": 1.0, "price": 2.0}]):
        search.on_trial_complete(f"t{2 * number}", result)
    trials = search.optimizer.trials[:5:2]
    assert [trial.state for trial in trials] == ["failed", "invalid", "done"]
    assert trials[0].reason == "It reported no 'price'."


def test_another_metric_may_have_a_limit() -> None:
    search = searcher(limits=["latency <= 5"])
    for k, result in enumerate([{"loss": 1.0}, {"loss": 1.0, "latency": 6.0}, {"loss": 2.0, "latency": 4.0}]):
        search.suggest(str(k))
        search.on_trial_complete(str(k), result)
    assert [trial.state for trial in search.optimizer.trials] == ["invalid", "done", "done"]
    assert search.optimizer.best.value == 2.0


def test_there_must_be_a_mode_and_a_space() -> None:
    with pytest.raises(InvalidInput, match=r"mode is None: give TuneConfig mode='min'"):
        AegisSearch().set_search_properties("loss", None, SPACE)
    with pytest.raises(InvalidInput, match="give the Tuner a param_space"):
        AegisSearch().suggest("a")
    search = searcher()
    assert not search.set_search_properties("loss", "min", SPACE), "one space is enough"


@pytest.mark.parametrize("mode", ["min", "max"])
def test_it_suggests_what_the_optimizer_would(mode: str) -> None:
    search = searcher(mode=mode)
    twin = Optimizer({"x": (-5, 10), "model/depth": Int(2, 8)}, seed=1, n_initial=4, maximize=mode == "max")
    for k in range(8):
        config, trial = search.suggest(f"t{k}"), twin.ask()
        assert config == {"x": trial.params["x"], "model": {"depth": trial.params["model/depth"]}}
        if k % 2:  # the others stay pending
            loss = config["x"] ** 2
            search.on_trial_complete(f"t{k}", {"loss": loss})
            twin.tell(trial, loss)
    assert search.optimizer.state() == twin.state()


def test_how_trials_end() -> None:
    search = searcher()
    for k in range(6):
        search.suggest(str(k))
    search.on_trial_complete("0", {"loss": 1.0}, error=True)
    search.on_trial_complete("1", {"loss": math.nan})
    search.on_trial_complete("2", {"accuracy": 1.0})
    search.on_trial_complete("3")
    search.on_trial_complete("4", {"loss": 2.5})
    search.on_trial_complete("somebody else's", {"loss": 1.0})
    states = [trial.state for trial in search.optimizer.trials]
    assert states == ["failed", "invalid", "failed", "lost", "done", "pending"]
    search.on_trial_complete("0", {"loss": 0.5})  # Tune was told to restart what had failed
    assert search.optimizer.trials[0].state == "done"
    assert search.optimizer.best.value == 0.5


def test_it_goes_on_from_where_it_was_saved(tmp_path: Path) -> None:
    search, other = searcher(), AegisSearch()
    for k in range(7):
        search.suggest(str(k))
        if k < 5:
            search.on_trial_complete(str(k), {"loss": float(k)})
    search.save(str(tmp_path / "state"))
    other.restore(str(tmp_path / "state"))
    assert other.optimizer.state() == search.optimizer.state()
    for each in (search, other):
        each.on_trial_complete("6", {"loss": 0.5})  # which was running
    assert other.suggest("next") == search.suggest("next")


@pytest.mark.parametrize("mode", ["min", "max"])
@pytest.mark.parametrize("steps", [None, 27])
def test_the_scheduler_stops_what_a_run_of_our_own_stops(mode: str, steps: int | None, tmp_path: Path) -> None:
    rng, sign = np.random.default_rng(3), -1.0 if mode == "max" else 1.0
    scheduler = AegisScheduler(steps=steps)
    assert scheduler.set_search_properties("loss", mode)
    ours = Optimizer([(0.0, 1.0)], strategy="random", maximize=mode == "max", stop_early="ranks", steps=steps)
    stopped = 0
    for k in range(20):
        trial, mine = SimpleNamespace(trial_id=f"t{k}"), ours.ask()
        curve = sign * (rng.normal(0, 1) + rng.normal(0, 0.2, 27))
        scheduler.on_trial_add(None, trial)
        ended: dict[str, Any] = {}
        try:
            for at, value in enumerate(curve, start=1):
                ended = {"loss": math.nan if k == 7 else value, "training_iteration": at}
                decision = scheduler.on_trial_result(None, trial, ended)
                ours.report(mine, ended["loss"], at)
                assert decision == "CONTINUE"
            assert scheduler.on_trial_result(None, trial, ended) == "CONTINUE"  # Tune repeats the last result
            ours.tell(mine, ended["loss"])
        except Stopped:
            stopped += 1
            assert decision == "STOP"
        scheduler.on_trial_complete(None, trial, ended)
        if k == 10:
            scheduler.save(str(tmp_path / "state"))
            scheduler = AegisScheduler()
            scheduler.restore(str(tmp_path / "state"))
    assert 5 < stopped < 17


@pytest.mark.parametrize("gone", ["on_trial_error", "on_trial_remove"])
def test_the_first_trial_that_is_left_is_never_stopped(gone: str) -> None:
    scheduler = AegisScheduler(steps=3)
    scheduler.set_search_properties("loss", "min")
    trials = [SimpleNamespace(trial_id=f"t{k}") for k in range(6)]
    for trial in trials:
        scheduler.on_trial_add(None, trial)
    for trial, loss in ((trials[2], 1.0), (trials[3], 2.0)):
        scheduler.on_trial_result(None, trial, {"loss": loss, "training_iteration": 1})
    getattr(scheduler, gone)(None, trials[0])
    late = [scheduler.on_trial_result(None, trials[k], {"loss": 9.0, "training_iteration": 1}) for k in (4, 1, 5)]
    assert late == ["STOP", "CONTINUE", "STOP"]


def test_what_the_scheduler_cannot_use_is_refused() -> None:
    with pytest.raises(UnknownName, match="ranks"):
        AegisScheduler("rank")
    with pytest.raises(InvalidInput, match="steps is -1"):
        AegisScheduler(steps=-1)
    with pytest.raises(InvalidInput, match="mode is None: give TuneConfig mode='min'"):
        AegisScheduler().set_search_properties("loss", None)
    with pytest.raises(InvalidInput, match=r"stop_early is 'ranks', but .* scheduler=AegisScheduler\(\)\."):
        AegisSearch(stop_early="ranks")


def test_the_model_learns_where_a_trial_that_a_scheduler_stopped_would_have_ended() -> None:
    search, curves = searcher(steps=3), [[4.0, 3.0, 1.5], [5.0, 4.0, 2.0], [3.0, 2.0, 0.5]]

    def report(name: str, values: list[float], *, stopped: bool) -> None:
        search.suggest(name)
        results = [{"loss": value, "training_iteration": k} for k, value in enumerate(values, start=1)]
        for result in results[:-1] if stopped else results:  # of a trial that is stopped, the scheduler sees the last
            search.on_trial_result(name, result)
        search.on_trial_complete(name, results[-1])

    for k, curve in enumerate(curves):
        report(str(k), curve, stopped=False)
    report("early", [6.0, 5.0], stopped=True)
    report("by itself", [7.0, 6.0], stopped=False)
    report("at the end", [7.0, 6.0, 6.0], stopped=True)  # as ASHA does
    optimizer = search.optimizer
    assert [trial.state for trial in optimizer.trials] == ["done"] * 3 + ["stopped", "done", "done"]
    assert [report.value for report in optimizer.trials[3].reports] == [6.0, 5.0]
    twin = Optimizer({"x": (-5, 10), "model/depth": Int(2, 8)}, seed=1, n_initial=4, steps=3)
    for trial in optimizer.trials:
        mine = twin.ask()
        for each in trial.reports:
            twin.report(mine, each.value, each.step)
        twin.end(mine, Outcome("stopped") if trial.number == 3 else Outcome("done", trial.value))
    evidence, expected = optimizer.evidence(), twin.evidence()
    assert evidence.y.tolist() == expected.y.tolist()
    assert evidence.y[:5].tolist() == [1.5, 2.0, 0.5, 6.0, 6.0]
    assert evidence.sd.tolist() == expected.sd.tolist()
    assert evidence.sd[5] > 0.0
    untold = searcher()
    untold.suggest("early")
    untold.on_trial_complete("early", {"loss": 5.0, "training_iteration": 2})
    assert untold.optimizer.trials[0].value == 5.0


@pytest.mark.long
def test_real_runs_with_errors_a_limit_and_a_restart(tmp_path: Path) -> None:
    """In a process of its own, because Ray changes signal handlers and warns about its own inner workings."""
    done = subprocess.run(
        [sys.executable, str(HERE / "tune_runs.py"), str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "All is well."
