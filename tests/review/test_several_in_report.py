"""The facts of a run with several objectives: what the page shows of the front, each objective and each decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from review.made_studies import make_study_of_two
from test_page import Elements

import aegisbo
from aegisbo.review.board import Board
from aegisbo.review.convergence import convergence
from aegisbo.review.front_then import front_then
from aegisbo.review.health import Finding, health
from aegisbo.review.html import report
from aegisbo.review.landscape import models_of
from aegisbo.review.payload import facts_of, front_facts_of, learned_facts_of
from aegisbo.review.picture import convergence_svg
from aegisbo.review.reasons import predictions, yields
from aegisbo.review.record import Record

pytestmark = pytest.mark.long

GOAL = {"gain": "max", "cost": "min"}


def told(values: Sequence[tuple[float, float] | None], **options: object) -> Record:
    """A run that measured these pairs of gain and cost; None fails."""
    optimizer = aegisbo.Optimizer([(0, 1), (-5, 10)], objectives=GOAL, seed=0, strategy="random", **options)
    for pair in values:
        trial = optimizer.ask()
        if pair is None:
            optimizer.fail(trial, "no")
        else:
            optimizer.tell(trial, dict(zip(GOAL, pair, strict=True)))
    return Record.of_optimizer(optimizer)


def area(points: Sequence[tuple[float, float]], reference: tuple[float, float]) -> float:
    """What these pairs beat up to the reference, counted in stripes of the gain from the best down."""
    total, cost = 0.0, reference[1]
    best = sorted((p for p in points if p[0] > reference[0] and p[1] < reference[1]), key=lambda p: p[1])
    gain = reference[0]
    for point in best:  # from the cheapest
        total += max(point[0] - gain, 0.0) * (cost - point[1])
        gain = max(gain, point[0])
    return total


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study_of_two(tmp_path_factory.mktemp("several") / "run.db", 30)


@pytest.fixture(scope="module")
def record(study: Path) -> Record:
    return Record.of_study(study)


def test_the_hypervolume_after_each_evaluation_is_the_area_that_was_beaten() -> None:
    values = [(1.0, 5.0), None, (2.0, 6.0), (0.5, 7.0), (3.0, 9.0), (2.5, 2.0)]
    record = told(values)
    edge = record.result.reference
    assert edge is not None
    known = [(value, k) for k, value in enumerate(values)]
    expected = [area([v for v, n in known if n <= k and v is not None], (edge["gain"], edge["cost"])) for k in range(6)]
    steps = convergence(record)
    assert [step.best or 0.0 for step in steps] == pytest.approx(expected)
    assert [step.improved for step in steps] == (np.diff([0.0, *expected]) > 1e-12).tolist()
    assert [step.value is None for step in steps] == [value is None for value in values]


def test_what_moves_added_is_the_hypervolume_beyond_what_was_observed() -> None:
    optimizer = aegisbo.Optimizer([(0, 1)], objectives=GOAL, seed=0, strategy="random")
    optimizer.observe([0.5], {"gain": 1.0, "cost": 5.0})
    for pair in ((2.0, 6.0), (0.5, 2.0), (1.5, 4.0)):
        optimizer.tell(optimizer.ask(), dict(zip(GOAL, pair, strict=True)))
    record = Record.of_optimizer(optimizer)
    edge = record.result.reference
    assert edge is not None
    reference, pairs = (edge["gain"], edge["cost"]), [(1.0, 5.0), (2.0, 6.0), (0.5, 2.0), (1.5, 4.0)]
    added = sum(each.gain for each in yields(record))
    assert added == pytest.approx(area(pairs, reference) - area(pairs[:1], reference))


def progress(record: Record) -> Finding:
    (found,) = [each for each in health(record, {}) if each.topic == "progress"]
    return found


@pytest.mark.parametrize(
    ("last", "level", "words"),
    [
        ([(9.0 + k, 9.0 + k) for k in range(5)], "good", "It is still moving: the last 5 evaluations added"),
        ([(0.0, 20.0)] * 5, "note", "None of the 11 evaluations since then has moved it"),
        ([(0.0, 20.0)] * 4 + [(8.01, 8.0)], "note", "It is hardly moving any more: the last 5 evaluations added"),
    ],
)
def test_whether_the_front_is_still_moving(last: list[tuple[float, float]], level: str, words: str) -> None:
    found = progress(told([*((k % 9, k % 9) for k in range(15)), *last]))
    assert found.level == level
    assert words in found.text


def test_a_front_that_no_evaluation_made() -> None:
    assert progress(told([None] * 3)).text == "None of 3 evaluations gave a value."
    broken = progress(told([(1.0, 5.0), (2.0, 6.0)], limits=["cost <= 1"]))
    assert broken.level == "bad"
    assert broken.text == "None of 2 evaluations has kept all limits, so there is no front."
    optimizer = aegisbo.Optimizer([(0, 1)], objectives=GOAL, seed=0)
    optimizer.observe([0.5], {"gain": 9.0, "cost": 0.0})
    optimizer.tell(optimizer.ask(), {"gain": 1.0, "cost": 5.0})
    beaten = progress(Record.of_optimizer(optimizer))
    assert beaten.text == "None of 1 evaluations has moved the front, which was observed elsewhere."
    assert facts_of(told([]), {})["front"]["trials"] == []


def test_an_edge_is_told_if_the_whole_front_lies_there() -> None:
    points = [[0.0, x] for x in range(-4, 8)]
    record = told([(float(x), float(x)) for x in range(12)], initial=points)
    (found,) = [each for each in health(record, {}) if each.topic == "range"]
    assert found.text == "All 12 trials of the front have a x0 at the lower end of its range (0)."
    one_inside = told([(float(x), float(x)) for x in range(12)], initial=[[0.5, 9.0], *points[1:]])
    assert not [each for each in health(one_inside, {}) if each.topic == "range"]


def test_the_page_is_told_of_the_front_and_of_each_objective(record: Record) -> None:
    facts, result = facts_of(record, {}), record.result
    assert [(each["name"], each["maximize"]) for each in facts["objectives"]] == [
        ("accuracy", True),
        ("latency", False),
    ]
    assert facts["measured"] == ["accuracy", "latency", "memory"]
    assert facts["front"]["trials"] == [trial.number for trial in result.front]
    pairs = [[trial.measured["accuracy"], trial.measured["latency"]] for trial in result.front]
    assert np.array(facts["front"]["values"]) == pytest.approx(np.array(pairs), rel=1e-6)
    assert facts["front"]["extremes"]["latency"] == min(result.front, key=lambda t: t.measured["latency"]).number
    assert facts["best"]["number"] == result.compromise.number  # type: ignore[union-attr]
    noted = [trial.note.get("mean", {}).get("latency") for trial in record.trials]
    shown = facts["objectives"][1]["means"]
    assert [each is None for each in shown] == [each is None for each in noted]
    assert [each for each in shown if each] == pytest.approx([each for each in noted if each], rel=1e-6)
    assert any(broken == "memory <= 20" for broken in facts["trials"]["broken"])


def test_predictions_are_checked_for_each_objective(record: Record) -> None:
    for name in ("accuracy", "latency"):
        checked = {each.number: (each.mean, each.value) for each in predictions(record, name)}
        done = [trial for trial in record.trials if trial.state == "done" and "mean" in trial.note]
        assert checked == {trial.number: (trial.note["mean"][name], trial.measured[name]) for trial in done}
    topics = {finding.topic for finding in health(record, models_of(record.optimizer))}
    assert {"model of accuracy", "model of latency"} <= topics


def test_what_each_model_has_learned_is_in_the_units_of_its_objective(record: Record) -> None:
    learned = learned_facts_of(record, models_of(record.optimizer))["models"]
    for each, name in zip(learned["each"], ("accuracy", "latency"), strict=True):
        out = each["left_out"]
        measured = {trial.number: trial.measured[name] for trial in record.trials if trial.state == "done"}
        assert out["value"] == pytest.approx([measured[number] for number in out["number"]], rel=1e-5, abs=1e-7)
        assert {cut["parameter"] for cut in each["slices"]} == {"lr", "units", "act"}
    accuracy, latency = np.array(learned["predicted"]["mean"])
    assert (np.diff(accuracy) <= 0.0).all()  # as the front: the best accuracy first
    assert (np.diff(latency) <= 0.0).all()
    (pair,) = learned["conflicts"]
    assert {pair["one"], pair["other"]} == {"accuracy", "latency"}


def test_a_decision_is_shown_as_it_was_made(record: Record) -> None:
    number = max(trial.number for trial in record.trials if "mean" in trial.note)
    found, note = front_then(record, number), record.trials[number].note
    assert found is not None
    assert found.taken[0] == pytest.approx([note["mean"][name] for name in ("accuracy", "latency")], rel=1e-5)
    assert (found.taken[1] <= found.taken[0]).all()
    assert (found.taken[0] <= found.taken[2]).all()
    assert set(found.pending) == set(record.decisions[number].pending)
    facts = front_facts_of(record, number, ["lr"])
    assert facts is not None
    assert [[cut["parameter"] for cut in some] for some in facts["slices"]] == [["lr"], ["lr"]]
    initial = next(trial.number for trial in record.trials if "mean" not in trial.note)
    assert front_facts_of(record, initial) is None


def test_the_page_and_the_board_hold_the_same_facts(study: Path, record: Record) -> None:
    (facts,) = json.loads(Elements(report(record)).texts["script data"])
    assert len(facts["fronts"]) > 3
    board = Board([study])
    board.start()
    try:
        _, shown = board.facts()
        assert shown["studies"][0]["front"] == facts["front"]
        assert board.front(0, facts["fronts"][0]["number"])["taken"] == facts["fronts"][0]["taken"]  # type: ignore[index]
    finally:
        board.stop()


def test_a_notebook_shows_the_hypervolume(record: Record) -> None:
    assert "hypervolume in 30 evaluations" in convergence_svg(record)
    assert convergence_svg(told([None])) == ""
    assert "hypervolume in 2 evaluations" in convergence_svg(told([(1.0, 2.0), (2.0, 1.0)]))
