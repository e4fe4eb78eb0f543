"""Laws of job times: their quantiles, against SciPy, the times drawn from them, and how they are named."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import LAWS, Law, exponential, half_normal, law_from_text, measured, pareto

MEASURED = (4.0, 0.5, 2.0, 2.0)
WITNESSES = [
    (half_normal, stats.halfnorm(scale=math.sqrt(math.pi / 2))),
    (pareto, stats.pareto(5, scale=0.8)),
    (exponential, stats.expon()),
]


@pytest.mark.parametrize(("law", "witness"), WITNESSES)
def test_quantiles_agree_with_scipy(law: Law, witness: Any) -> None:
    shares = np.array([0.0, 1e-12, 0.01, 0.25, 0.5, 0.9, 0.999, 1 - 1e-9])
    np.testing.assert_allclose([law(u) for u in shares], witness.ppf(shares), rtol=1e-7)


@pytest.mark.parametrize("name", LAWS)
def test_named_laws_have_mean_one(name: str) -> None:
    mean, _ = quad(law_from_text(name), 0, 1)  # the mean is the area under the quantile function
    assert mean == pytest.approx(1, rel=1e-6)


def test_empirical_law_draws_each_measured_time_equally_often() -> None:
    assert each_quarter(measured(MEASURED)) == [0.5, 0.5, 2, 2, 2, 4, 4]


def each_quarter(law: Law) -> list[float]:
    return [law(u) for u in (0.0, 0.2, 0.3, 0.6, 0.7, 0.8, 0.99)]


@pytest.mark.parametrize(("law", "witness"), WITNESSES)
def test_drawn_times_follow_the_law(law: Law, witness: Any) -> None:
    workers = VirtualWorkers(abs, 1, law, seed=11)
    times = [workers.seconds(number) for number in range(2000)]
    assert stats.kstest(times, witness.cdf).pvalue > 1e-3
    assert abs(np.mean(times) - witness.mean()) < 4 * witness.std() / math.sqrt(len(times))


@pytest.mark.parametrize("text", LAWS)
def test_a_law_is_found_by_name(text: str) -> None:
    assert law_from_text(text) is LAWS[text]


def test_a_law_can_be_a_file_of_measured_seconds(tmp_path: Path) -> None:
    file = tmp_path / "seconds.txt"
    file.write_text("4.0\n0.5 2\n2e0\n")
    assert each_quarter(law_from_text(str(file))) == each_quarter(measured(MEASURED))


@pytest.mark.parametrize(("content", "complaint"), [("1 two", "'two'"), ("", "at least one"), ("1 -2", "-2.0")])
def test_a_file_without_seconds_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    file = tmp_path / "seconds.txt"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=f"seconds.txt must list seconds only.*{complaint}"):
        law_from_text(str(file))


def test_an_unknown_law_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'half-normal'"):
        law_from_text("halfnormal")
