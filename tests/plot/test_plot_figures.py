"""What is drawn is what the study holds: the data of the artists against numbers that are counted here."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filled_study import BEGAN, SPACE, loss, write_study
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import aegisbo
from aegisbo import Optimizer, Result, plot
from aegisbo.errors import InvalidInput, NoModel, StudyError, TrialError, UnknownName
from aegisbo.outcome import FAILURES, Outcome
from aegisbo.plot.marks import MOVES, OTHERS, STATES, marks_of
from aegisbo.plot.value_axis import values_of
from aegisbo.review.landscape import needed_landscape
from aegisbo.review.record import Record
from aegisbo.study.reading import read_events

pytestmark = pytest.mark.long

PAGE = Path(aegisbo.__file__).parent / "review" / "page"


@pytest.fixture(scope="module")
def study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plot") / "run.db"
    write_study(path)
    return path


@pytest.fixture(scope="module")
def result(study_file: Path) -> Result:
    return aegisbo.load(study_file)


def drawn(axis: Axes, name: str) -> np.ndarray:
    """The points (m, 2) of the line with this label."""
    (line,) = [line for line in axis.lines if str(line.get_label()).startswith(name)]
    return np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)


def boxes(axis: Axes, name: str) -> list[tuple[float, float, float, str]]:
    """(left, right, middle row, color) of every bar of the collections with this label."""
    found = []
    for bars in axis.collections:
        if bars.get_label() == name:
            color = to_hex(bars.get_facecolor()[0]) if name == "_done" else to_hex(bars.get_edgecolor()[0])
            for path in bars.get_paths():
                (left, bottom), (right, top) = path.get_extents().get_points()
                found.append((left, right, round((bottom + top) / 2, 6), color))
    return found


def ended(result: Result) -> list[tuple[float, Any]]:
    """(moment, trial) in the order of ending."""
    return sorted(((trial.ended, trial) for trial in result.trials if trial.ended), key=lambda pair: pair[0])


class TestConvergence:
    def test_against_evaluations(self, result: Result) -> None:
        axis, _ = plot.convergence(result).axes
        values = [trial.value for _, trial in ended(result)]
        numbered = [(count, value) for count, value in enumerate(values, start=1) if value is not None]
        np.testing.assert_array_equal(drawn(axis, "evaluation"), numbered)
        best = np.minimum.accumulate([np.inf if value is None else value for value in values])
        known = np.isfinite(best)
        np.testing.assert_array_equal(
            drawn(axis, "best so far"), np.column_stack([np.flatnonzero(known) + 1, best[known]])
        )
        better = [row for row in numbered if row[1] == best[row[0] - 1] and row[1] < ([np.inf, *best][row[0] - 1])]
        np.testing.assert_array_equal(drawn(axis, "improvement"), better)
        assert drawn(axis, "no value (3)")[:, 0].tolist() == [k for k, value in enumerate(values, 1) if value is None]

    def test_against_time(self, result: Result, study_file: Path) -> None:
        _, axis = plot.convergence(result).axes
        at = {event.number: event.at - BEGAN for event in read_events(study_file) if event.kind == "told"}
        expected = [(at[trial.number], trial.value) for _, trial in ended(result) if trial.value is not None]
        np.testing.assert_allclose(drawn(axis, "evaluation"), expected)

    def test_a_target_and_values_beyond_the_axis(self) -> None:
        optimizer = Optimizer([(-5, 10)], strategy="random", seed=1, maximize=True)
        for value in (1.0, 2.0, 3.0, 2.5, 1.5, -900.0):
            optimizer.tell(optimizer.ask(), value)
        (axis,) = plot.convergence(optimizer, target=4.0).axes
        np.testing.assert_array_equal(drawn(axis, "best so far")[:, 1], [1.0, 2.0, 3.0, 3.0, 3.0, 3.0])
        assert drawn(axis, "beyond the axis (1)")[0, 0] == 6
        assert (
            -900.0 < drawn(axis, "beyond the axis (1)")[0, 1] == values_of([1, 2, 3, 2.5, 1.5, -900], maximize=True).low
        )
        assert drawn(axis, "target 4")[0, 1] == 4.0
        assert axis.get_ylim()[1] > 4.0


class TestTimeline:
    def test_bars_are_the_evaluations(self, result: Result) -> None:
        (axis,) = plot.timeline(result).axes
        for name, states in {"_done": ("done",), "_without": FAILURES}.items():
            expected = [
                (t.started - BEGAN, t.ended - BEGAN, t.worker, MOVES[t.note["move"]].color)
                for t in result.trials
                if t.state in states
            ]
            found = boxes(axis, name)
            assert [row[3] for row in sorted(found)] == [row[3] for row in sorted(expected)]
            np.testing.assert_allclose([row[:3] for row in sorted(found)], [row[:3] for row in sorted(expected)])
        assert len(boxes(axis, "_done")) == 15
        assert len(boxes(axis, "_open")) == 1  # of two that were pending when the driver ended, one had just begun

    def test_bars_by_outcome(self, result: Result) -> None:
        (axis,) = plot.timeline(result, by="outcome").axes
        colors = Counter(color for _, _, _, color in boxes(axis, "_without"))
        assert colors == {STATES["failed"].color: 2, STATES["timed_out"].color: 1}
        with pytest.raises(UnknownName, match="timeline 'moves': did you mean 'move'"):
            plot.timeline(result, by="moves")

    def test_bars_and_gaps_fill_the_time_of_a_worker(self, result: Result) -> None:
        (axis,) = plot.timeline(result).axes
        for worker in (0, 1):
            names = ("_done", "_without", "_open", "_suggestion", "_pool", "_nothing")
            spans = sorted(row[:2] for name in names for row in boxes(axis, name) if row[2] == worker)
            ends = [right for _, right in spans]
            assert spans[0][0] == pytest.approx(0.0, abs=1e-6)
            np.testing.assert_allclose([left for left, _ in spans[1:]], ends[:-1], atol=2e-3)

    def test_marks_sit_in_the_middle_of_their_bars(self, result: Result) -> None:
        (axis,) = plot.timeline(result).axes
        middles = [((left + right) / 2, row) for left, right, row, _ in boxes(axis, "_done") + boxes(axis, "_without")]
        marks = [(x, y) for line in axis.lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]
        assert len(marks) >= len(middles)
        for place in middles:
            assert min(np.hypot(x - place[0], y - place[1]) for x, y in marks) < 1e-6

    @pytest.mark.parametrize(
        ("seconds", "unit", "size"), [(60.0, "s", 1.0), (1000.0, "min", 60.0), (9000.0, "h", 3600.0)]
    )
    def test_long_runs_are_shown_in_minutes_or_hours(self, seconds: float, unit: str, size: float) -> None:
        optimizer = Optimizer([(0, 1)], strategy="random", seed=1)
        for k in range(3):
            ended = Outcome("done", float(k), seconds=seconds, began=BEGAN + k * seconds, worker=0)
            optimizer.end(optimizer.ask(), ended)
        (axis,) = plot.timeline(optimizer).axes
        assert f"({unit})" in axis.get_xlabel()
        assert max(right for _, right, _, _ in boxes(axis, "_done")) == pytest.approx(3 * seconds / size)
        assert drawn(plot.convergence(optimizer).axes[1], "evaluation")[-1, 0] == pytest.approx(3 * seconds / size)

    def test_without_times_it_says_so(self) -> None:
        (axis,) = plot.timeline(Optimizer([(0, 1)])).axes
        assert axis.texts[0].get_text() == "The times of evaluations were not recorded."


class TestReasons:
    def test_every_trial_by_its_move(self, result: Result) -> None:
        along = plot.reasons(result).axes[0]
        moves = {trial.note["move"] for trial in result.trials if trial.value is not None}
        assert {"initial", "exploit"} <= moves
        for move in moves:
            expected = [(t.number, t.value) for t in result.trials if t.value is not None and t.note["move"] == move]
            np.testing.assert_array_equal(drawn(along, move), expected)
            (line,) = [line for line in along.lines if line.get_label() == move]
            assert (line.get_color(), line.get_marker()) == MOVES[move]

    def test_what_each_move_has_brought(self, result: Result) -> None:
        brought = plot.reasons(result).axes[1]
        rows = [text.get_text() for text in brought.get_yticklabels()]
        states = Counter((trial.note["move"], trial.state in FAILURES, trial.state) for trial in result.trials)
        widths: Counter[tuple[str, str]] = Counter()
        for bars in brought.containers:
            for bar in bars:
                widths[rows[round(bar.get_y() + bar.get_height() / 2)], bars.get_label()] += round(bar.get_width())
        for move in rows:
            assert widths[move, "_failed"] == sum(n for (m, failed, _), n in states.items() if m == move and failed)
            assert widths[move, "_improved"] + widths[move, "_done"] == states[move, False, "done"]
            assert widths[move, "_pending"] == states[move, False, "pending"]
        improved = len(drawn(plot.convergence(result).axes[0], "improvement"))
        assert sum(n for (_, part), n in widths.items() if part == "_improved") == improved

    def test_predicted_and_measured(self, result: Result) -> None:
        panel = plot.reasons(result).axes[2]
        trials = [trial for trial in result.trials if trial.value is not None and "mean" in trial.note]
        assert panel.get_xlim() == panel.get_ylim()
        assert panel.get_xscale() == panel.get_yscale()
        low, high = panel.get_xlim()
        expected = [(*np.clip([t.note["mean"], t.value], low, high), *MOVES[t.note["move"]]) for t in trials]
        points = [
            (x, y, line.get_color(), line.get_marker())
            for line in panel.lines[1:]  # the first one is the diagonal
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        ]
        assert sorted(points) == sorted(expected)
        spans = sorted(tuple(path.vertices[:, 0]) for lines in panel.collections for path in lines.get_paths())
        limits = [np.clip(t.note["mean"] + np.array([-1.959964, 1.959964]) * t.note["std"], low, high) for t in trials]
        np.testing.assert_allclose(spans, sorted(map(tuple, limits)))
        assert sum(low < trial.note["mean"] < high for trial in trials) > len(trials) / 2
        assert low < result.fun < high
        within = np.mean([abs(t.value - t.note["mean"]) <= 1.959964 * t.note["std"] for t in trials])
        assert f"{within:.0%} of the values" in panel.get_title("left")

    def test_results_behind(self, result: Result, study_file: Path) -> None:
        panel, events = plot.reasons(result).axes[3], read_events(study_file)
        expected = {
            asked.number: sum(e.kind in ("told", "failed") and asked.body["seen"] < e.id < asked.id for e in events)
            for asked in events
            if asked.kind == "asked"
        }
        found = {
            int(x): int(y) for line in panel.lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        }
        assert found == expected
        assert 0 < sum(expected.values()) < len(expected)
        number = max(expected, key=lambda each: expected[each])
        assert result.explain(number).behind == expected[number] == 1
        assert "1 result behind" in repr(result.explain(number))


class TestSlices:
    def test_the_lines_are_what_the_model_predicts(self, result: Result) -> None:
        figure = plot.slices(result, parameters=["units", "lr", "a$ct"])
        for axis, name in zip(figure.axes, ["units", "lr", "a$ct"], strict=True):
            assert axis.get_xlabel() == name.replace("$", r"\$")
            if name == "a$ct":
                (errors,) = axis.containers
                x, mean = errors.lines[0].get_xdata(), errors.lines[0].get_ydata()
                values = list(SPACE.parameters[name].values)
                assert [text.get_text() for text in axis.get_xticklabels()] == ["relu", r"\$x_1", "gelu"]
                assert x.tolist() == [0, 1, 2]
            else:
                x, mean = drawn(axis, "model").T
                values = [round(value) for value in x] if name == "units" else x.clip(1e-6, 0.1).tolist()
            expected = result.predict([{**result.x, name: value} for value in values])
            np.testing.assert_allclose(mean, expected.mean, rtol=1e-6)
            if name != "a$ct":
                (band,) = [each for each in axis.collections if each.get_label() == "95 %"]
                outline = band.get_paths()[0].vertices
                assert outline[:, 1].min() == pytest.approx(expected.low.min(), rel=1e-3)
                assert outline[:, 1].max() == pytest.approx(expected.high.max(), rel=1e-3)
        assert [axis.get_xscale() for axis in figure.axes] == ["linear", "log", "linear"]

    def test_the_points_are_the_trials(self, result: Result) -> None:
        axis = plot.slices(result, parameters=["units"]).axes[0]
        top = axis.get_ylim()[1]
        found = sorted(tuple(row) for dots in axis.collections[1:] for row in dots.get_offsets())
        done = [trial for trial in result.trials if trial.value is not None]
        assert [x for x, _ in found] == sorted(trial.params["units"] for trial in done)
        inside = [(trial.params["units"], trial.value) for trial in done if trial.value < top * 0.9]
        assert len(inside) > 5
        assert {(float(x), y) for x, y in inside} <= {(float(x), float(y)) for x, y in found}
        failed = sorted(trial.params["units"] for trial in result.trials if trial.state in FAILURES)
        assert sorted(drawn(axis, "no value (3)")[:, 0]) == failed
        pending = sorted(trial.params["units"] for trial in result.trials if trial.state == "pending")
        assert sorted(drawn(axis, "pending (2)")[:, 0]) == pending
        assert drawn(axis, f"trial {result.best.number}").tolist() == [[result.x["units"], result.fun]]

    def test_points_pale_with_their_distance(self, result: Result) -> None:
        dots = plot.slices(result, parameters=["units"]).axes[0].collections[1]
        alphas = np.array(dots.get_alpha())
        by_place = {(t.params["units"], t.value): t for t in result.trials if t.value is not None}
        order = [by_place[int(x), float(y)] for x, y in dots.get_offsets()]
        best = SPACE.to_unit(result.x)
        away = [np.square(np.delete(SPACE.to_unit(trial.params) - best, 1)).sum() for trial in order]
        darkest = int(np.argmax(alphas))
        assert order[darkest].number == result.best.number
        assert alphas[darkest] == 1.0
        assert (np.diff(alphas[np.argsort(away)]) <= 1e-12).all()

    def test_through_another_point(self, result: Result) -> None:
        point = {"lr": 1e-5, "units": 200, "a$ct": "gelu"}
        for given, center, named in ((point, point, "cut here"), (2, result.trials[2].params, "trial 2")):
            axis = plot.slices(result, point=given, parameters=["lr"]).axes[0]
            x, mean = drawn(axis, "model").T
            expected = result.predict([{**center, "lr": value} for value in x.clip(1e-6, 0.1)])
            np.testing.assert_allclose(mean, expected.mean, rtol=1e-6)
            assert drawn(axis, named)[0, 0] == center["lr"]
        with pytest.raises(UnknownName, match="Unknown parameter 'unit': did you mean 'units'"):
            plot.slices(result, parameters=["unit"])
        with pytest.raises(InvalidInput, match="x must have the names"):
            plot.slices(result, point={"lr": 1e-3})

    def test_the_axes_are_as_wide_as_the_parameters(self, result: Result) -> None:
        units, lr, act = plot.slices(result, parameters=["units", "lr", "a$ct"]).axes
        assert units.get_xlim() == pytest.approx((16 - 0.03 * 496, 512 + 0.03 * 496))
        assert np.log10(lr.get_xlim()) == pytest.approx([-6.15, -0.85])
        assert act.get_xlim() == (-0.5, 2.5)
        assert units.get_ylim() == lr.get_ylim() == act.get_ylim()

    def test_the_most_important_come_first(self, result: Result) -> None:
        names = [importance.parameter for importance in needed_landscape(result.optimizer).importances]
        assert [axis.get_xlabel().replace("\\", "") for axis in plot.slices(result).axes] == names


class TestContour:
    def test_cells_are_what_the_model_predicts(self, result: Result) -> None:
        axis, _ = plot.contour(result, "units", "a$ct").axes
        mesh = axis.collections[0]
        mean = np.asarray(mesh.get_array())
        assert mean.shape[0] == 3
        edges = mesh.get_coordinates()[0, :, 0]
        for row, value in enumerate(SPACE.parameters["a$ct"].values):
            for column in (0, mean.shape[1] // 2, mean.shape[1] - 1):
                middle = round((edges[column] + edges[column + 1]) / 2)
                point = {**result.x, "units": min(max(middle, 16), 512), "a$ct": value}
                assert mean[row, column] == pytest.approx(result.predict(point).mean, rel=0.05, abs=0.02)

    def test_lines_and_points(self, result: Result) -> None:
        axis, bar = plot.contour(result, "lr", "units").axes
        grid = [
            {**result.x, "lr": lr, "units": units}
            for lr in np.geomspace(1e-6, 0.1, 61).clip(1e-6, 0.1)
            for units in range(16, 513, 8)
        ]
        mean = result.predict(grid).mean
        levels = axis.collections[0].levels
        assert (levels[0], levels[-1]) == pytest.approx((mean.min(), mean.max()), rel=0.05, abs=0.05)
        assert levels[len(levels) // 2] == pytest.approx(np.median(mean), rel=0.1)
        assert [float(text.get_text()) for text in bar.get_yticklabels()] == pytest.approx(levels[::2], rel=0.01)
        assert (axis.get_xscale(), axis.get_yscale()) == ("log", "linear")
        places = {"evaluated (15)": ("done",), "no value (3)": FAILURES, "pending (2)": ("pending",)}
        for name, states in places.items():
            trials = [trial for trial in result.trials if trial.state in states]
            expected = [(trial.params["lr"], trial.params["units"]) for trial in trials]
            np.testing.assert_allclose(drawn(axis, name), expected)
        assert drawn(axis, f"trial {result.best.number}").tolist() == [[result.x["lr"], result.x["units"]]]

    def test_it_needs_two_parameters(self, result: Result) -> None:
        with pytest.raises(InvalidInput, match="two different parameters, got 'lr' and 'lr'"):
            plot.contour(result, "lr", "lr")
        with pytest.raises(UnknownName, match="'rate'"):
            plot.contour(result, "rate")
        best, second = [importance.parameter for importance in needed_landscape(result.optimizer).importances][:2]
        assert plot.contour(result).axes[0].get_xlabel().replace("\\", "") == best
        assert plot.contour(result, y=best).axes[0].get_xlabel().replace("\\", "") == second


def test_importance_of_a_function_of_one_parameter() -> None:
    optimizer = Optimizer([(-5, 10), (2, 3), (0, 1)], seed=2)
    for x in np.random.default_rng(1).random((30, 3)) * [15, 1, 1] + [-5, 2, 0]:
        optimizer.observe(x, 3.0 * x[0])
    (axis,) = plot.importance(optimizer).axes
    total, main = ([bar.get_width() for bar in bars] for bars in axis.containers)
    assert axis.get_yticklabels()[0].get_text() == "x0"
    assert total == pytest.approx([1.0, 0.0, 0.0], abs=0.05)
    assert main == pytest.approx([1.0, 0.0, 0.0], abs=0.05)
    assert axis.texts[0].get_text() == f"{total[0]:.1%}"


class TestDecision:
    def test_a_decision_as_it_was_made(self, result: Result, study_file: Path) -> None:
        trial = next(trial for trial in result.trials[::-1] if trial.note["move"] != "initial")
        figure = plot.decision(result, trial.number)
        axis, *others = figure.axes
        assert drawn(axis, "chosen")[0, 0] == pytest.approx(trial.note["mean"], rel=1e-5)
        asked = next(
            event for event in read_events(study_file) if (event.kind, event.number) == ("asked", trial.number)
        )
        told = [e for e in read_events(study_file) if e.kind == "told" and e.id <= asked.body["seen"]]
        assert drawn(axis, "best so far")[0, 0] == pytest.approx(min(event.body["value"] for event in told))
        front = drawn(axis, "front")
        assert (np.diff(front[:, 0]) >= 0).all()
        assert (np.diff(front[:, 1]) >= -1e-12).all()  # no member is worse in both
        known = {
            event.number
            for event in read_events(study_file)
            if event.kind in ("told", "failed") and event.id <= asked.body["seen"]
        }
        assert len(drawn(axis, "pending at that time")) == trial.number - len(known)
        assert len(others) == 3
        for panel in others:
            assert drawn(panel, "cut here").shape == (1, 2)

    def test_where_nobody_knows_how_it_was_chosen(self, result: Result) -> None:
        with pytest.raises(NoModel, match="No model took part in the choice of trial 0: its move was initial"):
            plot.decision(result, 0)
        with pytest.raises(TrialError, match="Trial 99 was never asked for"):
            plot.decision(result, 99)
        with pytest.raises(TrialError, match="does not say how trial 7 was chosen"):
            plot.decision(result.optimizer, 7)
        with pytest.raises(InvalidInput, match="by its number"):
            plot.decision(result, {"lr": 1e-3, "units": 100, "a$ct": "relu"})


EVERY = [name for name in plot.OF_A_RUN if name not in ("decision", "front")]


class TestAll:
    @pytest.mark.parametrize("kind", [*EVERY, "decision"])
    def test_it_shows_in_a_notebook_and_is_written_as_png_and_svg(self, result: Result, kind: str) -> None:
        figure = result.plot(kind, **({"trial": 15} if kind == "decision" else {}))
        assert isinstance(figure, Figure)
        png, size = figure._repr_png_()
        assert png.startswith(b"\x89PNG")
        assert size["width"] == round(96 * figure.get_size_inches()[0])
        file = BytesIO()
        figure.savefig(file, format="svg")
        assert b"</svg>" in file.getvalue()

    @pytest.mark.parametrize("kind", EVERY)
    def test_a_result_its_optimizer_and_its_file_look_the_same(
        self, result: Result, study_file: Path, kind: str
    ) -> None:
        draw = getattr(plot, kind)
        shapes = [
            [(len(axis.lines), len(axis.collections), len(axis.patches)) for axis in draw(run).axes]
            for run in (result, str(study_file), study_file)
        ]
        assert shapes[0] == shapes[1] == shapes[2]
        draw(result.optimizer)

    @pytest.mark.parametrize("kind", EVERY)
    @pytest.mark.parametrize("failed", [None, 0, 1, 3])
    def test_runs_in_which_hardly_anything_happened(self, kind: str, failed: int | None) -> None:
        """Nothing asked for (None); one value; one failure; only failures."""
        optimizer = Optimizer(SPACE, strategy="random", seed=1)
        if failed == 0:
            optimizer.tell(optimizer.ask(), 1.0)
        for _ in range(failed or 0):
            optimizer.fail(optimizer.ask(), "odd")
        if kind in ("contour", "importance", "slices"):
            with pytest.raises(NoModel, match=f"it takes 4 values, and there are {int(failed == 0)}"):
                getattr(plot, kind)(optimizer)
        else:
            getattr(plot, kind)(optimizer).draw_without_rendering()

    def test_a_strategy_without_a_model_is_drawn_with_the_default_one(self) -> None:
        optimizer = Optimizer(SPACE, strategy="random", seed=1)
        for _ in range(8):
            optimizer.tell(trial := optimizer.ask(), loss(trial.params))
        assert len(plot.slices(optimizer).axes) == 3

    def test_what_is_no_run_is_refused(self, result: Result, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="Expected a result, an optimizer or the file of a study, got 7"):
            plot.convergence(7)
        with pytest.raises(StudyError):
            plot.convergence(tmp_path / "none.db")
        with pytest.raises(UnknownName, match="Unknown figure 'timelines': did you mean 'timeline'"):
            result.plot("timelines")

    def test_a_study_that_is_gone_is_drawn_from_the_result(self, result: Result, tmp_path: Path) -> None:
        from dataclasses import replace

        moved = replace(result, study=tmp_path / "gone.db")
        assert len(moved.plot().axes) == len(result.plot().axes)
        assert moved.explain(7).behind is None

    def test_no_window_is_opened_and_no_setting_is_touched(self, study_file: Path) -> None:
        run(f"""
import sys, aegisbo
assert aegisbo.plot.__name__ == "aegisbo.plot" and "matplotlib" not in sys.modules
import matplotlib
before = matplotlib.rcParams.copy()
aegisbo.plot.convergence({str(study_file)!r})._repr_png_()
assert "matplotlib.pyplot" not in sys.modules
assert all(matplotlib.rcParams[name] == before[name] for name in before if name != "backend")
""")

    def test_without_matplotlib_it_says_what_to_install(self, study_file: Path) -> None:
        run(f"""
import sys, aegisbo
sys.modules["matplotlib"] = None
try:
    aegisbo.load({str(study_file)!r}).plot()
except aegisbo.AegisError as error:
    assert str(error).endswith("pip install 'aegisbo[plot]'"), error
else:
    raise AssertionError
""")


def run(code: str) -> None:
    """Run a program in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# How eyes without one kind of cones see linear RGB (Machado, Oliveira and Fernandes, 2009, severity 1).
SIGHTS = {
    "all cones": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color: str) -> np.ndarray:
    c = np.array([int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b*, in which equal distances look about equally large."""
    f = np.cbrt(np.maximum(TO_XYZ @ rgb.clip(0, 1) / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def page_moves() -> dict[str, tuple[str, str]]:
    """The name of the color and the shape of each move on the report's page."""
    (table,) = re.findall(
        r"^const MOVES = \{(.*?)^\};", (PAGE / "marks.js").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    return {move: (color, shape) for move, color, shape in re.findall(r'(\w+): \["(\w+)", "(\w+)"', table)}


def page_colors() -> list[dict[str, str]]:
    """The color of each move on the report's page, in light and dark."""
    lines = re.findall(r"^ *(--c0: .*)$", (PAGE / "page.css").read_text("utf-8"), re.MULTILINE)
    themes = [dict(re.findall(r"--(c\d): (#\w{6})", line)) for line in lines]
    return [{move: theme[color] for move, (color, _) in page_moves().items()} for theme in themes]


class TestMarks:
    def test_every_color_stands_out_from_white(self) -> None:
        for color in {mark.color for mark in (*MOVES.values(), *OTHERS, *STATES.values())}:
            assert 1.05 / (TO_XYZ[1] @ linear(color) + 0.05) >= 3.0, color

    @pytest.mark.parametrize("sight", SIGHTS)
    def test_the_moves_of_aegis_differ_for_all_eyes(self, sight: str) -> None:
        moves = ["initial", "exploit", "improve", "local", "thompson", "pareto"]
        for theme in ({move: MOVES[move].color for move in moves}, *page_colors()):
            seen = [lab(np.array(SIGHTS[sight]) @ linear(theme[move])) for move in moves]
            assert min(np.linalg.norm(a - b) for k, a in enumerate(seen) for b in seen[:k]) > 20

    def test_the_page_of_the_report_has_the_same_moves_shapes_and_colors(self) -> None:
        shapes = {"o": "circle", "s": "square", "^": "up", "D": "diamond", "v": "down", "P": "plus", "h": "hexagon"}
        shapes |= {"*": "star", "p": "pentagon", "<": "left", ">": "right"}
        light, *_ = page_colors()
        found = {move: (light[move], shape) for move, (_, shape) in page_moves().items()}
        assert found == {
            move: (mark.color, shapes[mark.marker])
            for move, mark in MOVES.items()
            if move != "observed"  # no trials
        }

    def test_no_two_kinds_look_alike_without_color(self) -> None:
        moves = [move for move in MOVES if move != "uniform"] + ["my own", "another"]  # uniform and random never meet
        markers = [mark.marker for mark in marks_of(moves).values()]
        assert len(set(markers)) == len(moves)
        assert len({mark.marker for mark in STATES.values()}) == len(STATES)


@pytest.mark.parametrize("maximize", [False, True])
def test_the_axis_of_values_shows_the_good_end_and_cuts_the_bad_one(maximize: bool) -> None:
    sign = -1.0 if maximize else 1.0
    axis = values_of([sign * value for value in (-1.0, 0.0, 1.0, 2.0, 900.0)], maximize=maximize)
    assert (axis.low, axis.high, axis.log) == ((-11.0, 1.0, False) if maximize else (-1.0, 11.0, False))
    assert axis.beyond(sign * np.array([-1.0, 11.0, 12.0])).tolist() == [False, False, True]
    assert values_of([3.0, 3.0], maximize=maximize).low == values_of([3.0, 3.0], maximize=maximize).high == 3.0
    assert values_of([0.01, 1.0, 2.0], maximize=maximize).log
    assert not values_of([0.0, 1.0, 2.0], maximize=maximize).log


def test_a_title_says_where_the_best_is() -> None:
    optimizer = Optimizer([(0, 1)], strategy="random", seed=1)
    assert plot.convergence(optimizer).get_suptitle() == "run: 0 evaluations"
    optimizer.observe([0.5], 2.0)
    optimizer.fail(optimizer.ask(), "odd")
    optimizer.ask()
    said = "run: best 2 (observed elsewhere), 1 evaluations, 1 without a value, 1 pending"
    assert plot.convergence(optimizer).get_suptitle() == said
    optimizer.tell(optimizer.ask(), 1.0)
    assert plot.convergence(optimizer).get_suptitle().startswith("run: best 1 (trial 2), 2 evaluations")


def test_the_record_of_an_optimizer_is_that_of_its_study(result: Result, study_file: Path) -> None:
    assert Record.of_optimizer(result.optimizer).trials == Record.of_study(study_file).trials == result.trials
