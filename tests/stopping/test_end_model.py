"""Where evaluations will end: by the textbook's formula, and honest bands on curves of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from scipy.integrate import quad
from scipy.stats import t as student

from aegisbo.arrays import Array
from aegisbo.gp.kernels import Matern52
from aegisbo.gp.output_transform import scale_of
from aegisbo.stopping.curve import Curve
from aegisbo.stopping.end_model import EndForecast, EndModel

STEPS = np.arange(1.0, 51.0)
Family = Callable[[Array, Generator], tuple[Array, Array, float]]  # steps, values and the end at a point (2,)


def plain(x: Array, rng: Generator) -> tuple[Array, Array, float]:
    values = x[0] + (0.5 + x[1]) * STEPS ** (-0.3 - x[0])
    return STEPS, values, values[-1]


def noisy(x: Array, rng: Generator) -> tuple[Array, Array, float]:
    values = plain(x, rng)[1] + 0.05 * rng.standard_normal(50)
    return STEPS, values, values[-1]


def crossing(x: Array, rng: Generator) -> tuple[Array, Array, float]:
    """The quicker it falls, the worse it ends."""
    values = 1.0 - x[0] + 2.0 * np.exp(-STEPS / (5.0 + 15.0 * x[0])) + 0.1 * x[1]
    return STEPS, values, values[-1]


def dipping(x: Array, rng: Generator) -> tuple[Array, Array, float]:
    """Lower in the middle than at the end."""
    values = plain(x, rng)[1] + 0.02 * x[1] * np.maximum(STEPS - 20.0, 0.0)
    return STEPS, values, values[-1]


def uneven(x: Array, rng: Generator) -> tuple[Array, Array, float]:
    """Reports at some steps only, others for each evaluation."""
    some = np.unique(np.append(rng.choice(49, 25, replace=False), [0, 49]))
    values = plain(x, rng)[1]
    return STEPS[some], values[some], values[-1]


def shorter(x: Array, rng: Generator) -> tuple[Array, Array, float]:
    """Between 30 and 50 steps, by the parameters."""
    last = 30 + int(20 * x[0])
    values = plain(x, rng)[1][:last]
    return STEPS[:last], values, values[-1]


def diverging(x: Array, rng: Generator) -> tuple[Array, Array, float]:
    """Some become huge or infinite on their way, and come back."""
    values = plain(x, rng)[1]
    if x[1] > 0.8:
        values[5:9] = rng.choice([1e30, np.inf])
    return STEPS, values, values[-1]


def drawn(family: Family, count: int, rng: Generator) -> list[Curve]:
    points = rng.random((count, 2))
    curves = (family(x, rng) for x in points)
    return [Curve(steps, values, end, point=x) for x, (steps, values, end) in zip(points, curves, strict=True)]


def until(curve: Curve, step: float) -> Curve:
    seen = int(np.searchsorted(curve.steps, step, side="right"))
    return Curve(curve.steps[:seen], curve.values[:seen], point=curve.point)


def forecasts(model: EndModel, curves: Iterable[Curve], step: float) -> list[EndForecast]:
    told = model.forecasts(until(curve, step) for curve in curves)
    assert all(each is not None for each in told)
    return [each for each in told if each is not None]


@pytest.mark.long
@pytest.mark.parametrize("family", [plain, noisy, crossing, dipping, uneven, shorter, diverging])
@pytest.mark.parametrize("step", [5.0, 12.0, 25.0])
@pytest.mark.parametrize("ended", [4, 10, 30])
def test_ends_lie_in_their_bands(family: Family, step: float, ended: int) -> None:
    inside = []
    for seed in range(8):
        rng = default_rng(seed)
        model, others = EndModel(drawn(family, ended, rng)), drawn(family, 20, rng)
        for curve, each in zip(others, forecasts(model, others, step), strict=True):
            deviation = (each.scale.standardized(np.array([curve.end]))[0] - each.center) / each.spread
            inside.append(abs(deviation) <= student(each.freedom).ppf([0.75, 0.975]))
    half, most = np.mean(inside, axis=0)
    assert half > 0.35
    assert most > (0.8 if ended < 10 else 0.9)


@pytest.mark.parametrize("family", [plain, crossing, dipping])
def test_more_is_known_than_the_mean_way_to_the_end(family: Family) -> None:
    rng = default_rng(1)
    ended, others = drawn(family, 30, rng), drawn(family, 50, rng)
    told = [each.mean for each in forecasts(EndModel(ended), others, 12.0)]
    way = np.mean([curve.end - until(curve, 12.0).values[-1] for curve in ended])
    simple = [until(curve, 12.0).values[-1] + way for curve in others]
    true = np.array([curve.end for curve in others])
    assert np.abs(told - true).mean() < 0.3 * np.abs(simple - true).mean()


def test_bands_narrow_as_steps_pass() -> None:
    rng = default_rng(2)
    model, others = EndModel(drawn(noisy, 20, rng)), drawn(noisy, 30, rng)
    widths = [np.median([each.sd for each in forecasts(model, others, step)]) for step in (2.0, 10.0, 40.0)]
    assert widths[0] > widths[1] > widths[2]


def test_few_ends_give_wide_bands() -> None:
    rng = default_rng(3)
    ended, others = drawn(plain, 30, rng), drawn(plain, 30, rng)
    widths = [np.median([each.sd for each in forecasts(EndModel(ended[:n]), others, 10.0)]) for n in (3, 10, 30)]
    assert widths[0] > 2.0 * widths[1] > 2.0 * widths[2]


def test_nothing_is_said_of_what_diverges_or_goes_where_too_few_have_been() -> None:
    ended = [Curve(STEPS, 1.0 / STEPS + k, k + 0.02) for k in range(3)]
    late = [Curve(STEPS[20:], curve.values[20:], curve.end) for curve in ended[1:]]
    diverged = Curve(STEPS[:2], np.array([1.0, np.inf]))
    assert EndModel(ended).forecasts([diverged]) == [None]
    assert EndModel(ended[:2]).forecasts([ended[0]]) == [None]
    assert EndModel([ended[0], *late]).forecasts([until(ended[0], 5.0)]) == [None]
    assert EndModel([ended[0], *late]).forecasts([until(ended[0], 30.0)]) != [None]


def test_the_posterior_is_that_of_the_textbook() -> None:
    rng = default_rng(4)
    model, (other,) = EndModel(drawn(plain, 6, rng)), drawn(plain, 1, rng)
    (told,) = forecasts(model, [other], 10.0)
    fitted = model._model(10.0)
    assert fitted is not None
    curves, soft = [*model.ended, other], model.scale.standardized
    at = 10.0 * np.array([0.85, 0.9, 0.95, 1.0])
    now, half = (np.array([soft(np.interp(steps, c.steps, c.values)).mean() for c in curves]) for steps in (at, at / 2))
    shapes = np.column_stack([now - np.median(now[:6]), now - half])
    points, (places, alike, growth) = np.array([curve.point for curve in curves]), fitted.parts
    K = 30.0 + 3.0 * shapes @ shapes.T + places * Matern52(np.array([0.27 * 2**0.5]), 1.0)(points, points)
    K += alike * Matern52(np.array([0.7]), 1.0)(shapes, shapes) + np.diag(1.0 + growth * shapes[:, 1] ** 2)
    ways = soft(np.array([curve.end for curve in model.ended])) - now[:6]
    weights = np.linalg.solve(K[:6, :6], K[:6, 6])
    np.testing.assert_allclose(told.center, now[6] + weights @ ways)
    np.testing.assert_allclose(told.spread**2, fitted.noise * (K[6, 6] - weights @ K[:6, 6]), rtol=1e-6)
    innovations = [
        (ways[k] - (w := np.linalg.solve(K[:k, :k], K[:k, k])) @ ways[:k]) ** 2 / (K[k, k] - w @ K[:k, k])
        for k in range(6)
    ]
    weights = 0.5 ** (np.arange(6)[::-1] / 10.0)
    lately = (0.09 + weights @ innovations) / (1.0 + weights.sum())
    np.testing.assert_allclose(fitted.noise, max(lately, (0.09 + sum(innovations)) / 7.0))


@pytest.mark.parametrize(("center", "spread", "freedom"), [(0.3, 0.5, 4.0), (2.0, 0.1, 9.0), (-1.0, 0.2, 3.0)])
def test_chance_and_gain_are_those_of_students_t(center: float, spread: float, freedom: float) -> None:
    scale = scale_of(np.array([-1.0, 0.0, 1.0]))
    told, law = EndForecast(center, spread, scale, center, spread, freedom), student(freedom, center, spread)
    np.testing.assert_allclose(told.below(0.2), law.cdf(0.2))
    gain, _ = quad(lambda y: (0.2 - y) * law.pdf(y), -np.inf, 0.2)
    np.testing.assert_allclose(told.gain(0.2), gain, rtol=1e-6)


def test_no_model_is_fitted_for_each_of_many_steps() -> None:
    steps = np.arange(1.0, 100_000.0)
    ended = [Curve(steps, 1.0 / steps + k, float(k)) for k in range(3)]
    model = EndModel(ended)
    model.forecasts(Curve(steps[:k], ended[0].values[:k]) for k in range(20_000, 21_000))
    assert list(model._at) == [20_000.0]


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    """To the last digit: a replay asks for other curves at a time than the run did."""
    rng = default_rng(5)
    steps = np.arange(1.0, 28.0)

    def some(end: float | None) -> Curve:
        return Curve(steps, rng.random() + rng.random() / steps, end, point=rng.random(3))

    ended = [some(float(rng.random())) for _ in range(40)]
    running = [until(some(None), 9.0) for _ in range(50)]
    together = EndModel(ended).forecasts(running)
    assert together == [EndModel(ended).forecasts([curve])[0] for curve in running]
