"""Advice about other teams: its parts against schedules made by hand, definitions and functions that are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from driven import ask, end
from numpy.random import default_rng

import aegisbo
from aegisbo import Choice, Optimizer, Real, Space
from aegisbo.advice import Advice, Forecast, advise
from aegisbo.advice.stand_in import Drawn, StandIn
from aegisbo.advice.teams import Team
from aegisbo.errors import InvalidInput, NoModel, StudyError
from aegisbo.optimizer import Settings, Trial
from aegisbo.outcome import Outcome
from aegisbo.review.health import health
from aegisbo.review.landscape import models_of, needed_landscape, needed_landscapes
from aegisbo.review.record import record_of
from aegisbo.runners.loop import run
from aegisbo.simulation.comparison import Quartiles
from aegisbo.study import Study

pytestmark = pytest.mark.long

SPACE = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}


def bowl(params: dict[str, Any]) -> float:
    return (params["x"] - 3.0) ** 2 + 10.0 * (params["y"] - 2.5) ** 2


def filled(
    optimizer: Optimizer,
    count: int = 20,
    loss: Callable[[dict[str, Any]], Any] = bowl,
    seconds: Callable[[dict[str, Any]], float | None] = lambda params: 2.0,
) -> Optimizer:
    """An optimizer whose trials ended one after the other; a loss of None is a failure after a tenth of a second."""
    for _ in range(count):
        trial = optimizer.ask()
        answer = loss(trial.params)
        if answer is None:
            optimizer.end(trial, Outcome("failed", reason="bad", seconds=0.1))
        else:
            value, measured = answer if isinstance(answer, tuple) else (answer, None)
            optimizer.tell(trial, value, seconds(trial.params), measured=measured)
    return optimizer


def stored(path: Path, settings: Settings) -> Optimizer:
    """The optimizer of a study in this file, after five trials of a second each."""
    with Study.open(path, settings) as study:
        for _ in range(5):
            trial = ask(study, 0.0)
            outcome = Outcome("done", bowl(trial.params), seconds=1.0)
            end(study, trial.number, outcome, 1.0)
        return study.optimizer


def stand_in_of(optimizer: Optimizer) -> StandIn:
    return StandIn.of(optimizer, [needed_landscape(optimizer).belief])


def points(count: int) -> list[dict[str, float]]:
    return [{"x": -5.0 + 15.0 * u, "y": 2.0 + v} for u, v in default_rng(3).random((count, 2))]


class TestStandIn:
    @pytest.mark.parametrize("maximize", [False, True])
    def test_its_values_are_what_the_model_predicts(self, maximize: bool) -> None:
        sign = -1.0 if maximize else 1.0
        paper = Optimizer(SPACE, seed=0, preset="paper", maximize=maximize)  # tells what its one model says
        optimizer = filled(paper, loss=lambda params: sign * bowl(params))
        stand_in = stand_in_of(optimizer)
        for point in points(5):
            found = stand_in.evaluate(point, default_rng(0))
            assert found.value == found.level == pytest.approx(optimizer.predict(point).mean, rel=1e-6)

    @pytest.mark.parametrize("maximize", [False, True])
    def test_those_that_are_drawn_agree_with_the_results_and_differ_elsewhere(self, maximize: bool) -> None:
        sign = -1.0 if maximize else 1.0
        optimizer = filled(
            Optimizer(SPACE, seed=0, strategy="random", maximize=maximize), 12, lambda params: sign * bowl(params)
        )
        one, other = (stand_in_of(optimizer).variant(number, 0) for number in (1, 3))
        for trial in optimizer.trials:
            levels = [each.evaluate(trial.x, default_rng(0)).level for each in (one, other)]
            assert levels == pytest.approx([trial.value] * 2, rel=0.02, abs=0.2)
        point = points(1)[0]
        levels = [each.evaluate(point, default_rng(0)).level for each in (one, one, other)]
        assert levels[0] == levels[1] != levels[2]
        stand_in = stand_in_of(optimizer)
        even = {
            each.evaluate(point, default_rng(0)).level for each in (stand_in, *map(stand_in.variant, (0, 2), (0, 0)))
        }
        assert len(even) == 1
        assert levels[2] == pytest.approx(sign * bowl(point), abs=20.0)

    def test_those_that_are_drawn_know_how_little_a_few_times_tell(self) -> None:
        """The mean of ten times scatters as such means do: by their standard deviation over √10."""
        rng = default_rng(5)
        optimizer = filled(Optimizer(SPACE, seed=0, strategy="random"), 10, seconds=lambda params: rng.uniform(1, 3))
        times, seen = stand_in_of(optimizer).times, [trial.seconds for trial in optimizer.trials]
        drawn = [times.resampled(default_rng(k)) for k in range(400)]
        means = [np.exp(each.errors + each.durations.center).mean() for each in drawn]
        assert np.std(means) == pytest.approx(np.std(seen) / math.sqrt(10), rel=0.3)

    def test_noise_is_as_large_as_the_model_believes_and_no_part_of_the_level(self) -> None:
        rng = default_rng(1)
        loss = lambda params: params["x"] + 0.5 * rng.standard_normal()  # noqa: E731
        optimizer = filled(Optimizer({"x": (-5.0, 10.0)}, strategy="random", seed=0, noisy=True), 60, loss)
        stand_in = stand_in_of(optimizer)
        found = [stand_in.evaluate({"x": -2.0}, default_rng(k)) for k in range(400)]
        assert len({each.level for each in found}) == 1
        assert found[0].level == pytest.approx(-2.0, abs=0.4)
        assert np.std([each.value for each in found]) == pytest.approx(0.5, rel=0.4)

    def test_what_has_limits_is_measured_as_it_was(self) -> None:
        limits = ["heat <= 5", "heat >= -4", "weight >= -1"]
        loss = lambda params: (bowl(params), {"heat": 2.0 * params["x"], "weight": params["y"]})  # noqa: E731
        stand_in = stand_in_of(filled(Optimizer(SPACE, seed=0, strategy="random", limits=limits), 40, loss))
        for point in points(5):
            measured = stand_in.evaluate(point, default_rng(0)).measured
            assert measured is not None
            assert measured["heat"] == pytest.approx(2.0 * point["x"], abs=1.0)
            assert measured["weight"] == pytest.approx(point["y"], abs=0.05)

    def test_it_fails_where_evaluations_failed(self) -> None:
        loss = lambda params: None if params["x"] > 5.0 else bowl(params)  # noqa: E731
        stand_in = stand_in_of(filled(Optimizer(SPACE, seed=0, strategy="random"), 60, loss))
        bad, good = ([stand_in.evaluate({"x": x, "y": 2.5}, default_rng(k)) for k in range(100)] for x in (9.0, 0.0))
        assert sum(each.value is None for each in bad) > 80
        assert sum(each.value is None for each in good) < 20
        assert {each.seconds for each in bad if each.value is None} == {0.1}

    def test_it_fails_as_often_as_evaluations_did_where_that_is_all_that_is_known(self) -> None:
        lost = iter([True, False, False, False] * 20)
        stand_in = stand_in_of(
            filled(Optimizer(SPACE, seed=0, strategy="random"), 40, lambda p: None if next(lost) else bowl(p))
        )
        found = [stand_in.evaluate(point, default_rng(k)) for k, point in enumerate(points(400))]
        assert sum(each.value is None for each in found) / 400 == pytest.approx(0.25, abs=0.08)

    def test_times_depend_on_the_point_and_scatter_as_they_did(self) -> None:
        rng = default_rng(5)
        seconds = lambda params: 10.0 ** (params["y"] - 2.0) * float(np.exp(0.3 * rng.standard_normal()))  # noqa: E731
        stand_in = stand_in_of(filled(Optimizer(SPACE, seed=0, strategy="random"), 80, seconds=seconds))
        for y in (2.1, 2.9):
            logs = np.log([stand_in.evaluate({"x": 0.0, "y": y}, default_rng(k)).seconds for k in range(500)])
            assert logs.mean() == pytest.approx((y - 2.0) * math.log(10.0), abs=0.2)
            assert logs.std() == pytest.approx(0.3, rel=0.25)


class Scheduled:
    """A stand-in whose evaluations take the given times in the order of their numbers; the value is the number."""

    def __init__(self, seconds: list[float]) -> None:
        self.seconds = list(seconds)
        self.count = 0

    def evaluate(self, x: Any, rng: np.random.Generator) -> Drawn:
        self.count += 1
        return Drawn(self.seconds[self.count - 1], float(self.count - 1), float(self.count - 1))


@pytest.mark.parametrize(
    ("batches", "suggestion", "ends"),
    [
        (False, 0.0, {0: 3.0, 1: 1.0, 2: 2.0, 3: 6.0, 4: 4.0}),
        (True, 0.0, {0: 3.0, 1: 1.0, 2: 4.0, 3: 7.0, 4: 8.0}),
        (True, 0.5, {0: 3.5, 1: 2.0, 2: 5.0, 3: 8.5, 4: 10.0}),
    ],
)
def test_two_workers_follow_a_schedule_made_by_hand(batches: bool, suggestion: float, ends: dict[int, float]) -> None:
    """Jobs of 3, 1, 1, 4 and 1 seconds. In batches, 2 and 3 begin when 0 has ended, and 4 when 3 has."""
    team = Team(Scheduled([3.0, 1.0, 1.0, 4.0, 1.0]), 2, batches=batches, suggestion=suggestion, seed=0)
    done = run(Study(Optimizer(SPACE, strategy="random", seed=0)), team, 5).finished
    assert {job.number: job.finished for job in done} == ends


class TestAdvise:
    def test_equal_job_times_leave_no_difference_between_batches_and_not_waiting(self) -> None:
        found = advise(filled(Optimizer(SPACE, seed=0)), [4], runs=2)
        alone, together, batches = found.forecasts
        assert [f.title for f in found.forecasts] == ["1 worker", "4 workers", "4 workers, in batches"]
        assert together.seconds == batches.seconds
        assert alone.seconds == tuple(2.0 * count for count in alone.evaluations)
        assert together.seconds == tuple(2.0 * math.ceil(count / 4) for count in together.evaluations)
        assert found.speedup(alone) == Quartiles(1.0, 1.0, 1.0)
        first, second = (one / more for one, more in zip(alone.seconds, together.seconds, strict=True))
        speedup = found.speedup(together)
        assert speedup == Quartiles(min(first, second), min(first, second), max(first, second))
        assert speedup.low > 1.0

    def test_the_target_is_close_to_the_best_or_what_the_user_says(self) -> None:
        optimizer = filled(Optimizer(SPACE, seed=0, strategy="random", maximize=True), 9, lambda params: -bowl(params))
        values = [trial.value for trial in optimizer.trials]
        found = advise(optimizer, [], runs=1)
        assert found.target == pytest.approx(0.99 * max(values) + 0.01 * float(np.median(values)))
        assert advise(optimizer, [], target=-20, runs=1).target == -20.0

    def test_a_target_that_nobody_reaches_takes_for_ever(self) -> None:
        found = advise(filled(Optimizer(SPACE, seed=0, strategy="random")), [2], target=-1e3, runs=2)
        assert found.given_up_after == 60
        assert all(f.seconds == f.evaluations == (math.inf, math.inf) for f in found.forecasts)
        assert found.forecasts[0].missed == 2
        assert found.speedup(found.forecasts[0]) is None

    def test_simulated_runs_aim_at_the_target_where_the_model_follows_the_results(self) -> None:
        found = advise(filled(Optimizer(SPACE, seed=0, strategy="random"), 30), [], runs=3)
        assert found.aims[0] == found.aims[2] != found.aims[1]
        assert found.aims == pytest.approx([found.target] * 3, abs=0.1)
        assert not found.doubtful

    @pytest.mark.parametrize("maximize", [False, True])
    def test_they_aim_at_what_the_points_of_the_run_find_on_their_stand_in(self, maximize: bool) -> None:
        """A run whose best value no model believes: its stand-ins are lower elsewhere, and nobody has to go there."""
        sign = -1.0 if maximize else 1.0
        loss = lambda params: sign * (bowl(params) + 9.0 * math.sin(1e4 * params["x"]))  # noqa: E731
        optimizer = filled(Optimizer(SPACE, seed=0, strategy="random", maximize=maximize), 20, loss)
        found, stand_in = advise(optimizer, [], runs=2), stand_in_of(optimizer)
        for number, aim in enumerate(found.aims):
            variant = stand_in.variant(number, 0)
            levels = np.array([sign * variant.evaluate(trial.x, default_rng(0)).level for trial in optimizer.trials])
            assert sign * aim == pytest.approx(levels.min() + 0.01 * (np.median(levels) - levels.min()))
        assert found.forecasts[0].missed == 0

    def test_a_target_has_the_same_place_on_each_stand_in(self) -> None:
        """Half-way from the best to the median of the run is half-way on a stand-in, whatever the model smooths."""
        optimizer = filled(Optimizer(SPACE, seed=0, strategy="random"), 20)
        values = [trial.value for trial in optimizer.trials]
        half = 0.5 * (min(values) + float(np.median(values)))
        variant = stand_in_of(optimizer).variant(0, 0)
        levels = np.array([variant.evaluate(trial.x, default_rng(0)).level for trial in optimizer.trials])
        (aim,) = advise(optimizer, [], target=half, runs=1).aims
        assert aim == pytest.approx(0.5 * (levels.min() + np.median(levels)))

    def test_it_is_said_when_the_model_smooths_away_what_the_run_found(self, tmp_path: Path) -> None:
        """The best value is lucky: the model does not believe it, and no simulated run would meet it."""
        with Study.open(tmp_path / "run.db", Settings.checked(SPACE, strategy="random", seed=3)) as study:
            for k in range(40):
                trial = ask(study, 0.0)
                value = bowl(trial.params) + 10.0 * math.sin(1e4 * trial.params["x"])
                outcome = Outcome("done", value, seconds=1.0, began=1e9 + k, worker=0)
                end(study, trial.number, outcome, 1.0)
        found = advise(tmp_path / "run.db", [], runs=4)
        values = [trial.value for trial in study.optimizer.trials]
        target, aim = (
            next(k for k, value in enumerate(values, start=1) if value <= level)
            for level in (found.target, found.aim.median)
        )
        assert found.took is not None
        assert (found.took[1], found.had_aim) == (target, aim)
        assert aim < target

    def test_processes_change_no_number(self) -> None:
        optimizer = filled(Optimizer(SPACE, seed=0, strategy="random"))
        assert advise(optimizer, [2], runs=2, jobs=2) == advise(optimizer, [2], runs=2)

    def test_conditions_constraints_limits_failures_and_known_points(self) -> None:
        """All at once: it ends, and reaches the target."""
        space = {"a": Choice(["p", "q"]), "x": Real(-5, 10, when={"a": "p"}), "y": (2.0, 3.0)}
        optimizer = Optimizer(space, seed=0, constraints=["y < 2.9"], limits=["heat <= 8"], cost="time")
        optimizer.observe({"a": "q", "y": 2.25}, 1.0, {"heat": 1.0})

        def loss(params: dict[str, Any]) -> Any:
            x = params.get("x", 7.0)
            return None if params["y"] < 2.1 else (bowl({**params, "x": x}), {"heat": x})

        found = advise(filled(optimizer, 14, loss, lambda params: params["y"]), [3], target=30.0, runs=1)
        assert all(math.isfinite(f.time.median) for f in found.forecasts)

    def test_a_study_knows_its_workers_and_how_long_it_took(self, tmp_path: Path) -> None:
        with Study.open(tmp_path / "run.db", Settings.checked(SPACE, strategy="random", seed=0)) as study:
            for k in range(8):
                trial = ask(study, 0.5)
                outcome = Outcome("done", bowl(trial.params), seconds=2.0, began=1e9 + 2.0 * k, worker=k % 3)
                end(study, trial.number, outcome, 2.0)
        best = min(range(8), key=lambda k: study.optimizer.trials[k].value)
        found = advise(tmp_path / "run.db", [3], runs=2)
        assert [f.workers for f in found.forecasts] == [3, 3]
        assert found.took is not None
        assert found.took[1] <= best + 1
        for seconds, evaluations in zip(found.forecasts[1].seconds, found.forecasts[1].evaluations, strict=True):
            if math.isfinite(seconds):  # half a second for each choice, and a batch of three takes two seconds longer
                full, rest = divmod(evaluations - 1, 3)
                assert seconds == pytest.approx(2.0 * (full + 1) + 0.5 * (3 * full + rest + 1))

    @pytest.mark.parametrize("kept", [False, True])
    def test_a_run_by_ask_and_tell_has_as_many_workers_as_points_in_flight(self, tmp_path: Path, kept: bool) -> None:
        with Study.open(tmp_path / "run.db", Settings.checked(SPACE, strategy="random", seed=0)) as study:
            flying: list[Trial] = []
            for _ in range(12):
                while len(flying) < 4:
                    flying.append(ask(study, 0.0))
                trial = flying.pop(1)
                outcome = Outcome("done", bowl(trial.params), seconds=2.0)
                end(study, trial.number, outcome, 2.0)
        run = tmp_path / "run.db" if kept else study.optimizer
        assert [f.title for f in advise(run, [], runs=1).forecasts] == ["4 workers", "4 workers, in batches"]
        if not kept:
            assert advise(study.optimizer.found(), [], runs=1).forecasts[0].workers == 4

    def test_doubts_are_those_of_the_report(self) -> None:
        rng = default_rng(0)
        optimizer = filled(Optimizer(SPACE, seed=0, strategy="random"), 30, lambda params: rng.standard_normal())
        record, models = record_of(optimizer), models_of(optimizer)
        (finding,) = [each for each in health(record, models) if each.topic == "model"]
        assert finding.level == "warning"
        found = advise(optimizer, [], runs=1)
        assert found.doubtful
        assert found.predictions == finding

    def test_suggestions_are_the_bottleneck_of_teams_that_need_them_faster(self, tmp_path: Path) -> None:
        """A point takes half a second to choose and two seconds to evaluate: four workers are kept busy, no more."""
        with Study.open(tmp_path / "run.db", Settings.checked(SPACE, strategy="random", seed=0)) as study:
            for k in range(8):
                trial = ask(study, 0.5)
                outcome = Outcome("done", bowl(trial.params), seconds=2.0, began=1e9 + 2.5 * k, worker=0)
                end(study, trial.number, outcome, 2.0)
        found = advise(tmp_path / "run.db", [4, 5, 8, 16], target=-1e3, runs=1)
        assert {f.workers for f in found.forecasts if found.waits(f)} == {5, 8, 16}
        reached = advise(tmp_path / "run.db", [8, 16], runs=2)
        eight, sixteen = (f for f in reached.forecasts if f.workers > 1 and not f.batches)
        assert eight.seconds == sixteen.seconds


def both(params: dict[str, Any]) -> dict[str, float]:
    """Two bowls; one is to be large, so it hangs upside down."""
    x, y = params["x"], params["y"]
    return {"gain": -((x - 4.0) ** 2) - y, "cost": (x + 1.0) ** 2 + 5.0 * (y - 2.5) ** 2}


BOTH = {"gain": "max", "cost": "min"}
RANDOM_BOTH: dict[str, Any] = {"seed": 0, "strategy": "random", "objectives": BOTH}


def area(losses: Sequence[tuple[float, float]], reference: tuple[float, float]) -> float:
    """The hypervolume of two objectives, step by step along the first one."""
    covered, height = 0.0, reference[1]
    for first, second in sorted(losses):
        if first < reference[0] and second < height:
            covered += (reference[0] - first) * (height - second)
            height = second
    return covered


def losses_of(values: Iterable[Mapping[str, float]]) -> list[tuple[float, float]]:
    return [(-each["gain"], each["cost"]) for each in values]


def stand_in_of_both(optimizer: Optimizer) -> StandIn:
    return StandIn.of(optimizer, [model.belief for model in needed_landscapes(optimizer).values()])


def levels(stand_in: StandIn, trials: Iterable[Trial]) -> list[tuple[float, float]]:
    """What a stand-in has at the points of trials, to be minimized."""
    found = [stand_in.evaluate(trial.x, default_rng(0)).level for trial in trials]
    return [(-float(gain), float(cost)) for gain, cost in found]


class TestSeveralObjectives:
    def test_a_stand_in_of_each_is_close_to_its_function(self) -> None:
        stand_in = stand_in_of_both(filled(Optimizer(SPACE, **RANDOM_BOTH), 40, both))
        for point in points(5):
            found, expected = stand_in.evaluate(point, default_rng(0)), both(point)
            assert found.value == pytest.approx(expected, abs=1.0)
            assert dict(zip(BOTH, found.level, strict=True)) == found.value
            assert not found.measured

    def test_those_that_are_drawn_agree_with_the_results_and_differ_elsewhere(self) -> None:
        optimizer = filled(Optimizer(SPACE, **RANDOM_BOTH), 12, both)
        one, other = (stand_in_of_both(optimizer).variant(number, 0) for number in (1, 3))
        for trial in optimizer.trials:
            for each in (one, other):
                assert each.evaluate(trial.x, default_rng(0)).value == pytest.approx(trial.measured, rel=0.02, abs=0.3)
        first, second = (each.evaluate(points(1)[0], default_rng(0)).level for each in (one, other))
        assert (first != second).all()

    def test_noise_of_each_is_its_own_and_no_part_of_the_level(self) -> None:
        rng = default_rng(1)
        loss = lambda params: {"gain": params["x"] + rng.normal(0, 0.5), "cost": params["y"] + rng.normal(0, 0.05)}  # noqa: E731
        stand_in = stand_in_of_both(filled(Optimizer(SPACE, noisy=True, **RANDOM_BOTH), 60, loss))
        found = [stand_in.evaluate({"x": -2.0, "y": 2.5}, default_rng(k)) for k in range(400)]
        assert {tuple(each.level) for each in found} == {tuple(found[0].level)}
        for name, sd in (("gain", 0.5), ("cost", 0.05)):
            assert np.std([each.value[name] for each in found]) == pytest.approx(sd, rel=0.4)
        assert abs(np.corrcoef([[*each.value.values()] for each in found], rowvar=False)[0, 1]) < 0.15

    def test_the_target_is_nearly_the_hypervolume_of_the_run_or_what_the_user_says(self) -> None:
        optimizer = filled(Optimizer(SPACE, **RANDOM_BOTH), 20, both)
        found, several = advise(optimizer, [], runs=1), optimizer.result()
        reference = (-several.reference["gain"], several.reference["cost"])
        own = area(losses_of(trial.measured for trial in optimizer.trials), reference)
        assert found.target == pytest.approx(0.99 * own)
        assert found.reference == several.reference
        assert advise(optimizer, [], target=0.5 * own, runs=1).target == 0.5 * own

    @pytest.mark.parametrize("share", [None, 0.6])
    def test_each_run_aims_at_its_share_and_takes_as_long_as_its_points_need(self, share: float | None) -> None:
        """One worker and a strategy that looks at no result: the points, so the evaluations, can be made again."""
        optimizer = filled(Optimizer(SPACE, **RANDOM_BOTH), 30, both)
        several, stand_in = optimizer.result(), stand_in_of_both(optimizer)
        reference = (-several.reference["gain"], several.reference["cost"])
        target = None if share is None else share * float(several.hypervolume()[-1])
        found = advise(optimizer, [], target=target, runs=2)
        (team,) = found.forecasts
        for number, aim in enumerate(found.aims):
            variant = stand_in.variant(number, 0)
            assert aim == pytest.approx((share or 0.99) * area(levels(variant, optimizer.trials), reference))
            seed = int(np.random.SeedSequence([0, number]).generate_state(1)[0])
            again = filled(Optimizer(SPACE, **{**RANDOM_BOTH, "seed": seed}), 90, both)
            met = levels(variant, again.trials)
            volumes = [area(met[: k + 1], reference) for k in range(90)]
            needed = next((k for k, volume in enumerate(volumes, start=1) if volume >= aim), math.inf)
            assert team.evaluations[number] == needed
            assert team.seconds[number] == pytest.approx(2.0 * needed)
        assert math.isfinite(min(team.evaluations))

    def test_points_from_elsewhere_count_from_the_start(self) -> None:
        optimizer = Optimizer(SPACE, **RANDOM_BOTH)
        for x in np.linspace(-1.0, 4.0, 15):
            optimizer.observe({"x": x, "y": 2.25}, both({"x": x, "y": 2.25}))
        found = advise(filled(optimizer, 6, both), [], target=1e-6, runs=2)
        assert [f.evaluations for f in found.forecasts] == [(1.0, 1.0)]

    def test_when_the_study_reached_it(self, tmp_path: Path) -> None:
        settings = Settings.checked(SPACE, strategy="random", seed=0, objectives=BOTH)
        with Study.open(tmp_path / "run.db", settings) as study:
            for k in range(20):
                trial = ask(study, 0.0)
                outcome = Outcome("done", None, seconds=2.0, began=1e9 + 2.0 * k, worker=0, measured=both(trial.params))
                end(study, trial.number, outcome, 2.0)
        found = advise(tmp_path / "run.db", [], runs=1)
        reference = (-found.reference["gain"], found.reference["cost"])
        values = losses_of(trial.measured for trial in study.optimizer.trials)
        needed = next(k for k in range(1, 21) if area(values[:k], reference) >= found.target)
        assert found.took is not None
        assert found.took[1] == needed
        assert found.had_aim == next(k for k in range(1, 21) if area(values[:k], reference) >= found.aim.median)

    def test_limits_failures_and_an_objective_that_is_a_function(self, tmp_path: Path) -> None:
        """All at once, one of the limits on an objective."""
        objectives = {"gain": "max", "cost": ("min", lambda x, y: (x + 1.0) ** 2 + y)}
        limits = ["cost <= 60", "heat <= 8"]
        settings = Settings.checked(SPACE, strategy="random", seed=0, objectives=objectives, limits=limits)
        with Study.open(tmp_path / "run.db", settings) as study:
            for k in range(25):
                trial = ask(study, 0.0)
                x, y = trial.params["x"], trial.params["y"]
                measured = {"gain": -((x - 4.0) ** 2) - y, "cost": (x + 1.0) ** 2 + y, "heat": x}
                outcome = Outcome("done", None, seconds=1.0, began=1e9 + k, worker=0, measured=measured)
                end(study, trial.number, Outcome("failed", reason="bad", seconds=0.1) if y < 2.1 else outcome, 1.0)
        found, stand_in = advise(study.optimizer, [2], runs=2), stand_in_of_both(study.optimizer)
        assert all(math.isfinite(f.time.low) for f in found.forecasts)
        for number in (0, 1):  # the function is asked, also in what is drawn
            drawn = stand_in.variant(number, 0).evaluate({"x": 2.0, "y": 2.5}, default_rng(0))
            assert drawn.value["cost"] == pytest.approx(3.0**2 + 2.5, rel=1e-12)
            assert drawn.value["gain"] == pytest.approx(-(2.0**2) - 2.5, abs=2.0)
            assert set(drawn.measured) == {"heat"}
        done = [trial for trial in study.optimizer.trials if trial.state == "done"]
        counting = [trial for trial in done if trial.measured["cost"] <= 60.0 and trial.measured["heat"] <= 8.0]
        edge = (-found.reference["gain"], found.reference["cost"])
        for number, aim in enumerate(found.aims):
            there = levels(stand_in.variant(number, 0), counting)
            assert aim == pytest.approx(0.99 * area(there, edge), rel=1e-9)
        with pytest.raises(StudyError, match="One of the objectives is a function"):
            advise(tmp_path / "run.db", [2], runs=2)

    def test_doubts_name_the_objective_that_is_not_predicted(self) -> None:
        rng = default_rng(0)
        loss = lambda params: {**both(params), "cost": rng.standard_normal()}  # noqa: E731
        found = advise(filled(Optimizer(SPACE, **RANDOM_BOTH), 30, loss), [], runs=1)
        assert found.doubtful
        assert found.predictions is not None
        assert found.predictions.topic == "model of cost"
        assert not advise(filled(Optimizer(SPACE, **RANDOM_BOTH), 30, both), [], runs=1).doubtful

    @pytest.mark.parametrize("target", [0.0, -1.0])
    def test_a_hypervolume_that_is_none_is_refused(self, target: float) -> None:
        with pytest.raises(InvalidInput, match=f"target is {target}: with several objectives it is a hypervolume"):
            advise(filled(Optimizer(SPACE, **RANDOM_BOTH), 5, both), target=target)

    def test_without_a_front_there_is_nothing_to_reach(self) -> None:
        optimizer = filled(Optimizer(SPACE, limits=["cost <= -1"], **RANDOM_BOTH), 5, both)
        with pytest.raises(NoModel, match="keeps all limits, so there is no hypervolume to reach"):
            advise(optimizer)


class TestRefusals:
    def test_too_few_results(self) -> None:
        with pytest.raises(NoModel, match="it takes 3 values, and there are 2"):
            advise(filled(Optimizer(SPACE, seed=0), 2))

    def test_no_times(self) -> None:
        with pytest.raises(InvalidInput, match="It is not known how long"):
            advise(filled(Optimizer(SPACE, seed=0), 5, seconds=lambda params: None))

    def test_no_value_that_counts(self) -> None:
        optimizer = Optimizer(SPACE, seed=0, strategy="random", limits=["heat <= 0"])
        with pytest.raises(NoModel, match="name a target"):
            advise(filled(optimizer, 5, lambda params: (bowl(params), {"heat": 1.0})))

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({"workers": [0]}, "workers"),
            ({"runs": 0}, "runs"),
            ({"jobs": 1.5}, "jobs"),
            ({"target": math.nan}, "target"),
            ({"workers": 8}, r"workers is 8: give a list of numbers, such as \[2, 4\]"),
            ({"seed": -1}, "seed is -1: give a whole number, at least 0"),
            ({"seed": 1.5}, r"seed is 1\.5: give a whole number, at least 0"),
        ],
    )
    def test_numbers_that_are_none(self, given: dict[str, Any], message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            advise(filled(Optimizer(SPACE, seed=0), 5), **given)

    def test_a_strategy_that_is_not_in_the_file(self, tmp_path: Path) -> None:
        class Mine(aegisbo.strategies.Aegis):  # an object without a text
            pass

        stored(tmp_path / "run.db", Settings.checked(SPACE, strategy=Mine(), seed=0))
        with pytest.raises(StudyError, match="an object that is not part of the file"):
            advise(tmp_path / "run.db", [2], target=-1e3, runs=1)

    def test_a_constraint_that_is_not_in_the_file_is_in_the_optimizer(self, tmp_path: Path) -> None:
        def high(y: float) -> bool:
            return y > 2.1

        space = Space({"x": (-5.0, 10.0), "y": (2.0, 3.0)}, [high])
        optimizer = stored(tmp_path / "run.db", Settings.checked(space, strategy="random", seed=0))
        with pytest.raises(StudyError, match="pass the `Optimizer` to"):
            advise(tmp_path / "run.db", [2], runs=1)
        assert advise(optimizer, [2], runs=1).results == 5


def test_quartiles_are_among_the_values_also_where_some_are_infinite() -> None:
    forecast = Forecast(4, True, (3.0, math.inf, 1.0, 2.0), (30.0, math.inf, 10.0, 20.0))
    assert (forecast.time.low, forecast.time.median, forecast.time.high) == (1.0, 2.0, 3.0)
    assert forecast.effort.median == 20.0
    assert forecast.missed == 1


def test_teams_are_compared_run_by_run() -> None:
    """Ratios 4, 0 (it gave up), any (the other did) and none (both did)."""
    base, other = (
        Forecast(2, False, seconds, seconds)
        for seconds in ((8.0, 6.0, math.inf, math.inf), (2.0, math.inf, 3.0, math.inf))
    )
    found = Advice("run", 0.5, False, 20, None, 60, (base, other), (0.5,) * 4, None, None, 0.0, 1.0)
    assert found.speedup(other) == Quartiles(0.0, 4.0, math.inf)
    assert found.speedup(base) == Quartiles(1.0, 1.0, 1.0)
