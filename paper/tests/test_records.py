"""Records on disk: what comes back, what is refused, and what a crash leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aegis_paper import record_file
from aegis_paper.records import Cell, Records
from aegis_paper.runs import Spec

from aegisbo.errors import AegisError, InvalidInput, StudyError
from aegisbo.simulation.problems import get
from aegisbo.simulation.runs import Evaluation, Record, simulate

MOVES = ("initial", "exploit", "thompson", "pareto")


def made_up(run: int = 0, moves: tuple[str, ...] = MOVES, **changes: Any) -> Record:
    """A record of random numbers, which compress as badly as real ones."""
    plain = {"problem": "Branin", "strategy": "aegis", "preset": "paper", "workers": 8, "budget": 30, "run": run}
    spec = Spec(**plain | changes)
    problem, rng = get(spec.problem), np.random.default_rng(run)
    low, high = np.array(problem.bounds).T
    finish = np.sort(rng.random(spec.budget) * 25)
    evaluations = tuple(
        Evaluation(
            number=int(number),
            x=tuple(rng.uniform(low, high).tolist()),
            value=float(rng.normal(scale=1e3)),
            move=moves[rng.integers(len(moves))],
            start=float(finish[number - spec.workers]) if number >= spec.workers else 0.0,
            finish=float(end),
            suggestion_seconds=float(rng.random() / 9),
        )
        for number, end in zip(rng.permutation(spec.budget), finish, strict=True)
    )
    scores = problem.scores(np.array([each.value for each in evaluations]))
    return Record(spec, problem.minimum, scores, evaluations, float(finish[-1]), float(rng.random()))


def rounded(record: Record) -> Record:
    """As far as a record is promised to be kept, but for the points."""
    evaluations = tuple(
        replace(
            each,
            x=(),
            start=float(np.float32(each.start)),
            finish=float(np.float32(each.finish)),
            suggestion_seconds=float(np.float16(each.suggestion_seconds)),
        )
        for each in record.evaluations
    )
    return replace(record, evaluations=evaluations)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "records")


@pytest.mark.parametrize(
    "record",
    [
        simulate(Spec(problem="Branin", strategy="aegis", workers=3, budget=14, seed=2, law="pareto")),
        simulate(Spec(problem="SVM#3", strategy="random", workers=2, budget=9, run=7)),
        made_up(4, preset="reference", strategy="aegis:epsilon=faster", problem="Rosenbrock10", budget=200),
    ],
    ids=lambda record: record.spec.problem,
)
def test_a_record_comes_back(records: Records, record: Record) -> None:
    records.add(record)
    (loaded,) = records.load(Cell.of(record.spec))
    assert rounded(loaded) == rounded(record)
    assert loaded.scores.tolist() == record.scores.tolist()
    bounds = np.array(get(record.spec.problem).bounds)
    points, expected = ([each.x for each in of.evaluations] for of in (loaded, record))
    assert np.max(np.abs(np.subtract(points, expected)) / (bounds[:, 1] - bounds[:, 0])) <= 2**-24


def test_points_on_the_edge_stay_in_the_box(records: Records) -> None:
    problem = get("Ackley5")  # single precision cannot hold its bounds
    record = made_up(problem="Ackley5")
    low, high = np.array(problem.bounds).T.tolist()
    corners = (replace(each, x=tuple(high if each.number % 2 else low)) for each in record.evaluations)
    records.add(replace(record, evaluations=tuple(corners)))
    for each in records.load(Cell.of(record.spec))[0].evaluations:
        assert each.x == tuple(high if each.number % 2 else low)


def test_runs_are_sorted_whatever_the_order_they_came_in(records: Records) -> None:
    made = [made_up(3), made_up(10, moves=("initial", "uniform")), made_up(0, moves=("alone",)), made_up(5)]
    for record in made:
        records.add(record)
    loaded = records.load(Cell.of(made[0].spec))
    assert [rounded(record) for record in loaded] == [rounded(made[i]) for i in (2, 0, 3, 1)]


def test_a_run_is_kept_once(records: Records) -> None:
    records.add(made_up(3))
    with pytest.raises(InvalidInput, match=r"Run 3 is in .*Branin\.npz already"):
        records.add(made_up(3))
    assert made_up(3).spec in records
    assert made_up(2).spec not in records
    assert made_up(3, strategy="thompson").spec not in records


def test_cells_have_files_of_their_own(records: Records) -> None:
    made = [
        made_up(),
        made_up(strategy="aegis:gamma=0.1"),
        made_up(preset="reference"),
        made_up(preset="reference:paths+choice"),
        made_up(workers=16),
        made_up(problem="push4#3"),
    ]
    for record in made:
        records.add(record)
    assert set(records.cells()) == {Cell.of(record.spec) for record in made}
    assert [len(records.load(cell)) for cell in records.cells()] == [1] * 6
    files = sorted(str(file.relative_to(records.folder)) for file in records.folder.rglob("*.npz"))
    assert files == [
        "q16/paper/aegis/Branin.npz",
        "q8/paper/aegis,gamma=0.1/Branin.npz",
        "q8/paper/aegis/Branin.npz",
        "q8/paper/aegis/push4#3.npz",
        "q8/reference,paths+choice/aegis/Branin.npz",
        "q8/reference/aegis/Branin.npz",
    ]


def test_an_empty_folder_has_no_runs(records: Records) -> None:
    assert records.cells() == []
    assert records.load(Cell.of(made_up().spec)) == []


def test_every_run_says_what_it_was_computed_with(records: Records) -> None:
    records.add(made_up(1), {"numpy": "9.9"})
    records.add(made_up(0))
    builds = records.builds(Cell.of(made_up().spec))
    assert builds[1] == {"numpy": "9.9"}
    assert builds[0]["numpy"] == np.__version__
    assert {"aegisbo", "python", "scipy"} < builds[0].keys()


def test_two_and_a_half_thousand_runs_fit_into_25_megabytes(records: Records) -> None:
    size = 0
    for d, problem in ((2, "Branin"), (6, "Hartmann6"), (10, "Ackley10")):
        for run in range(11):
            records.add(made_up(run, problem=problem, budget=200))
        size = records.file(Cell.of(made_up(problem=problem, budget=200).spec)).stat().st_size
        assert size / 11 <= 5_000 + 750 * d


@pytest.mark.parametrize("other", [{"budget": 31}, {"law": "pareto"}, {"seed": 1}])
def test_runs_with_other_settings_do_not_mix(records: Records, other: dict[str, Any]) -> None:
    records.add(made_up())
    ((name, value),) = other.items()
    for use in (records.add, lambda record: records.load(Cell.of(record.spec)), lambda record: record.spec in records):
        with pytest.raises(AegisError, match=rf"Branin\.npz holds runs with {name} .*, not {value}: use another"):
            use(made_up(1, **other))


def test_runs_from_other_seeds_are_refused(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    records.add(made_up(5))
    monkeypatch.setattr(Spec, "run_seed", 42)
    with pytest.raises(AegisError, match=r"Branin\.npz: run 5 began with seed \d+, but would begin with 42 now"):
        records.load(Cell.of(made_up().spec))


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-300])


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF  # in the midst of the points
    file.write_bytes(content)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def overwritten(file: Path) -> None:
    file.write_text("see you")


def strange(file: Path) -> None:
    np.savez(file, a=np.arange(3))


def strange_header(file: Path) -> None:
    np.savez(file, header=np.array(json.dumps({"format": record_file.FORMAT, "cell": {"colour": "red"}})))


@pytest.mark.parametrize("damage", [truncated, flipped, emptied, overwritten, strange, strange_header])
def test_a_damaged_file_is_named_with_the_remedy(records: Records, damage: Any) -> None:
    for run in range(3):
        records.add(made_up(run))
    cell = Cell.of(made_up().spec)
    damage(records.file(cell))
    for use in (lambda: records.load(cell), lambda: records.add(made_up(9))):
        with pytest.raises(AegisError, match=r"Branin\.npz cannot be read \(.*\): if it is damaged, delete it"):
            use()


def test_a_file_of_another_format_is_left_alone(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as future:
        future.setattr(record_file, "FORMAT", 4)
        records.add(made_up())
    with pytest.raises(AegisError, match=r"Branin\.npz has format 4, this version knows 3"):
        records.load(Cell.of(made_up().spec))


def test_a_write_that_breaks_off_leaves_the_old_file(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    records.add(made_up(0))

    def disk_full(stream: Any, **arrays: Any) -> None:
        stream.write(b"half a fi")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as breaking:
        breaking.setattr(np, "savez_compressed", disk_full)
        with pytest.raises(AegisError, match=r"cannot be written \(No space left on device\): all earlier runs"):
            records.add(made_up(1))
    cell = Cell.of(made_up().spec)
    assert (records.cells(), records.runs(cell)) == ([cell], {0})
    records.add(made_up(1))
    assert records.runs(cell) == {0, 1}
    assert [file.suffix for file in records.folder.rglob("*.*")] == [".npz"]


def test_one_writer_at_a_time(records: Records) -> None:
    with (
        records.lock(),
        pytest.raises(StudyError, match=r"records is already being driven"),
        Records(records.folder).lock(),
    ):
        pass
    with records.lock():
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AegisError, match=r"file/records cannot be made \(Not a directory\): choose another"):
        Records(tmp_path / "file" / "records").lock()
