"""The shipped Profet instances: bounded, distinct, smooth, the same everywhere, and like the originals."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib.resources import files
from math import exp
from pathlib import Path

import numpy as np
import pytest
from aegis_paper.problems.profet import FC_NET, SVM, XGBOOST, family_in
from aegis_paper.problems.profet_network import Network
from scipy.stats import ks_2samp, qmc

from aegisbo.arrays import Array
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.simulation import problems
from aegisbo.simulation.problems import Family, Parameter

FAMILIES = [SVM, FC_NET, XGBOOST]

# The supplement's table "Parameters tuned in the Profet benchmark": range and log flag.
TABLE = {
    "SVM": {"C": (exp(-10), exp(10), True), "gamma": (exp(-10), exp(10), True)},
    "FC-NET": {
        "learning_rate": (1e-6, 1e-1, True),
        "batch_size": (8, 128, True),
        "n_units_1": (16, 512, True),
        "n_units_2": (16, 512, True),
        "dropout_1": (0, 0.99, False),
        "dropout_2": (0, 0.99, False),
    },
    "XGBoost": {
        "learning_rate": (1e-6, 1e-1, True),
        "gamma": (0, 2, False),
        "reg_alpha": (1e-5, 1e3, True),
        "reg_lambda": (1e-5, 1e3, True),
        "n_estimators": (10, 500, False),
        "subsample": (0.1, 1, False),
        "max_depth": (1, 15, False),
        "min_child_weight": (0, 20, False),
    },
}

PINNED = [  # at 0.3 in every coordinate
    ("SVM#1", 0.912285752812024),
    ("SVM#26", 0.8261882578347685),
    ("SVM#51", 0.28818637591726604),
    ("FC-NET#1", 0.17695078782934767),
    ("FC-NET#26", 0.152711367415858),
    ("FC-NET#51", 0.041218386017412845),
    ("XGBoost#1", 1733.7255526138701),
    ("XGBoost#26", 332076.2002227442),
    ("XGBoost#51", 10.800327263749374),
]


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> Family:
    return request.param


def network(family: Family, number: int) -> Network:
    function = family.function(number)
    assert isinstance(function, Network)
    return function


def values(family: Family) -> Array:  # (51, 256)
    X = qmc.Sobol(family.d, scramble=False).random_base2(8)
    return np.array([network(family, number).values(X) for number in range(1, 52)])


def test_parameters_are_those_of_the_supplement(family: Family) -> None:
    found = {p.name: (p.low, p.high, p.log) for p in family.parameters}
    assert found == {name: pytest.approx(row) for name, row in TABLE[family.name].items()}
    assert [p.name for p in family.parameters] == sorted(found, key=str.lower)
    assert family.bounds == ((0, 1),) * family.d


def test_the_files_fit_into_eight_megabytes() -> None:
    data = files("aegis_paper.problems") / "data"
    assert 0 < sum(len(file.read_bytes()) for file in data.iterdir()) <= 8_000_000


def test_values_are_possible_errors(family: Family) -> None:
    found = values(family)
    assert found.shape == (51, 256)
    if family is XGBOOST:  # squared errors, in the units of eleven data sets
        assert found.min() > 1e-6
        assert found.max() < 1e8
    else:
        assert found.min() > 0
        assert found.max() < 1


def test_no_two_instances_are_alike_and_none_is_flat(family: Family) -> None:
    shapes = np.log(values(family))
    assert shapes.std(axis=1).min() > 0.05
    distances = [np.abs(one - other).max() for i, one in enumerate(shapes) for other in shapes[:i]]
    assert min(distances) > 0.02


def test_instances_are_smooth(family: Family) -> None:
    """Differences shrink with the square of the step, so there is a slope: no jump, no kink, no rounding noise."""
    rng = np.random.default_rng(5)
    for number in range(1, 52, 5):
        function = network(family, number)
        x, along = rng.uniform(0.1, 0.9, family.d), rng.normal(size=family.d)
        along /= np.linalg.norm(along)
        wide, narrow = ((function(x + h * along) - function(x - h * along)) / (2 * h) for h in (2e-4, 1e-4))
        assert wide == pytest.approx(narrow, rel=2e-2, abs=1e-3 * function(x))


def test_calling_an_instance_is_evaluating_its_network(family: Family) -> None:
    problem = problems.get(family.name, instance=7)
    x = np.linspace(0.1, 0.9, family.d)
    assert problem(x) == network(family, 7).values(x[None])[0]
    assert problem.name == f"{family.name}#7"
    assert problem.minimum is None


@pytest.mark.parametrize(("name", "value"), PINNED)
def test_shipped_values_never_change(name: str, value: float) -> None:
    """Instances are named by number only: other weights would be other problems under old names."""
    problem = problems.get(name)
    assert problem(np.full(problem.d, 0.3)) == pytest.approx(value, rel=1e-9)


def test_other_processes_compute_the_same(family: Family) -> None:
    problem = family.instance(3)
    points = np.random.default_rng(8).random((5, family.d))
    script = (
        "import pickle, sys; problem, points = pickle.load(sys.stdin.buffer)\n"
        "sys.stdout.buffer.write(pickle.dumps([problem(x) for x in points]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=pickle.dumps((problem, points)), capture_output=True, check=True
    )
    assert pickle.loads(done.stdout) == [problem(x) for x in points]


@pytest.mark.parametrize(
    ("parameter", "fraction", "value"),
    [
        (Parameter("C", exp(-10), exp(10), log=True), 0.5, 1.0),
        (Parameter("gamma", 0.0, 2.0), 0.25, 0.5),
        (Parameter("max_depth", 1, 15, integer=True), 0.0, 1),
        (Parameter("max_depth", 1, 15, integer=True), 1 / 15 - 1e-9, 1),
        (Parameter("max_depth", 1, 15, integer=True), 1 / 15 + 1e-9, 2),
        (Parameter("max_depth", 1, 15, integer=True), 1.0, 15),
        (Parameter("units", 16, 512, log=True, integer=True), 1.0, 512),
    ],
)
def test_fractions_stand_for_values(parameter: Parameter, fraction: float, value: float) -> None:
    assert parameter.value(fraction) == pytest.approx(value, rel=1e-12)
    assert parameter.value(parameter.fraction(value)) == pytest.approx(value, rel=1e-12)


def test_the_sweep_recorded_whole_numbers_at_these_fractions(reference_data: Path) -> None:
    """The columns of the public XGBoost sweep take exactly the fractions that stand for whole numbers."""
    with np.load(reference_data / "profet" / "xgboost_data.npz") as archive:
        X, columns = archive["X"], [str(name) for name in archive["columns"]]
    assert columns == [p.name for p in XGBOOST.parameters]
    for parameter, column in zip(XGBOOST.parameters, X.T, strict=True):
        if parameter.integer:
            levels = [parameter.fraction(parameter.value(u)) for u in column]
            np.testing.assert_allclose(column, levels, atol=1e-5)


def test_settings_and_points_are_each_others_inverse(family: Family) -> None:
    problem = family.instance(1)
    settings = problem.settings(np.random.default_rng(2).random(family.d))
    again = problem.settings(problem.point(settings))
    assert again == pytest.approx(settings, rel=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 1.0}, "gamma of SVM#1 is missing: give a value"),
        ({"C": 1.0, "gama": 1.0}, "parameter of SVM#1 'gama': did you mean 'gamma'"),
        ({"C": 1e9, "gamma": 1.0}, r"C is 1000000000\.0: choose a value within \[4\.5"),
    ],
)
def test_impossible_settings_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        SVM.instance(1).point(settings)


@pytest.mark.parametrize(
    ("name", "instance", "message"),
    [
        ("SVM", 0, "SVM has no instance 0: choose one of 1 to 51"),
        ("SVM#52", None, "SVM has no instance 52: choose one of 1 to 51"),
        ("SVM", None, "SVM has 51 instances: name one of them, such as 'SVM#1'"),
        ("SVM#3", 4, "'SVM#3' already names an instance: leave out instance=4"),
        ("SVM#three", None, "'SVM#three' has no instance number after #"),
        ("Branin", 2, "Branin is a single function: leave out the instance 2"),
        ("svn#1", None, "Unknown problem 'svn': did you mean 'SVM'"),
    ],
)
def test_impossible_instances_are_refused(name: str, instance: int | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        problems.get(name, instance)


@pytest.mark.parametrize(
    ("x", "message"), [([0.5], r"x of SVM#1 must have shape \(2,\)"), ([0.5, 1.2], r"x\[1\] of SVM#1 is 1\.2: choose")]
)
def test_impossible_points_are_refused(x: list[float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        SVM.instance(1)(x)


def test_a_file_of_ones_own_can_be_used() -> None:
    own = family_in(Path(str(files("aegis_paper.problems") / "data" / "profet.npz")), "SVM")
    assert own.instance(5)([0.2, 0.7]) == SVM.instance(5)([0.2, 0.7])
    with pytest.raises(UnknownName, match="'svm': did you mean 'SVM'"):
        family_in(Path("any"), "svm")


@pytest.mark.parametrize("statistic", [np.min, np.median, np.std], ids=["minimum", "median", "sd"])
def test_svm_instances_are_distributed_like_the_originals(statistic: object, reference_data: Path) -> None:
    """The 1 % level of the Kolmogorov distance for 51 draws against a thousand."""
    with np.load(reference_data / "profet" / "svm_instance_values.npz") as archive:
        X, originals = archive["X"], archive["F"].astype(np.float64)
    own = np.array([network(SVM, number).values(X) for number in range(1, 52)])
    assert callable(statistic)
    assert ks_2samp(statistic(own, axis=1), statistic(originals, axis=1)).statistic <= 0.23
