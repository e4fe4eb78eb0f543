"""How much longer evaluations take on one worker than on another, beyond what their points explain.

Log seconds are what is expected of the point, plus an effect of the worker, plus scatter. The effects count only if
they make the seconds much more likely, at the price of one parameter: how large they are. Then each is drawn towards
the others, the more the fewer evaluations a worker has made. Else all workers are alike.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aegisbo.arrays import Array
from aegisbo.strategies.durations import EVEN, SHORTEST, Durations, learned

UNKNOWN = -1  # worker
FEWEST = 2  # evaluations of a worker whose pace is told from that of its points
CLEARLY = 20.0  # twice the gain in log likelihood
NOTABLE = 1.25  # times as long takes the slowest worker, at least
OUTLYING = 3.0  # standard deviations from the median of a worker, beyond which seconds are pulled in
RATIOS = np.geomspace(0.01, 1e4, 25)  # variances of effects tried, in variances of the scatter
ROUNDS = 4  # of learning paces and durations in turn


def learned_together(X: Array, seconds: Array, workers: Array) -> tuple[Durations, Mapping[int, float]]:
    """How long evaluations take on a typical worker, and the pace of each worker: how many times as long on it.

    Args:
        X: the points (n, width).
        seconds: how long their evaluations took (n,).
        workers: on which worker (n,).

    Returns:
        The durations, and the paces by worker; none if no difference is clear. Then durations are learned from the
        seconds as they are. Workers that are not there have the pace 1.
    """
    durations, paces = learned(X, seconds), dict[int, float]()
    for _ in range(ROUNDS):
        found = paces_of(np.log(np.maximum(seconds, SHORTEST)) - durations.log_seconds(X)[0], workers)
        if not found:
            break
        paces = found
        durations = learned(X, seconds / at_workers(paces, workers))
    return durations, paces


def at_workers(paces: Mapping[int, float], workers: Array) -> Array:  # (n,) -> (n,)
    """The pace of the worker of each evaluation."""
    return np.array([paces.get(int(worker), 1.0) for worker in workers])


def paces_of(excess: Array, workers: Array) -> dict[int, float]:
    """The paces by worker, from log seconds beyond what is expected of the points (n,); none if all may be alike."""
    names, which, numbers = np.unique(workers, return_inverse=True, return_counts=True)
    told = (names != UNKNOWN) & (numbers >= FEWEST)
    if told.sum() < 2:
        return {}
    names, groups = names[told], [excess[which == k] for k in np.flatnonzero(told)]
    means, within, counts = _moments(groups)
    likelihoods, middles = np.transpose([_likelihood(ratio, means, within, counts) for ratio in (0.0, *RATIOS)])
    best = int(likelihoods.argmax())
    if best == 0 or 2.0 * (likelihoods[best] - likelihoods[0]) < CLEARLY:
        return {}
    ratio = RATIOS[best - 1]
    effects = (means - middles[best]) * ratio / (ratio + 1.0 / counts)
    effects -= np.quantile(effects, 0.5, method="inverted_cdf")  # of a typical worker; the faster half, if two halves
    if np.ptp(effects) < np.log(NOTABLE):
        return {}
    return dict(zip(map(int, names), np.exp(effects).tolist(), strict=True))


def _moments(groups: list[Array]) -> tuple[Array, float, Array]:
    """The mean of each group, the sum of squares around them, and how many there are in each; outliers pulled in."""
    usual = float(np.median(np.concatenate(groups)))
    medians = [_middle(group, usual) for group in groups]
    apart = np.concatenate([group - median for group, median in zip(groups, medians, strict=True)])
    reach = OUTLYING * max(1.4826 * float(np.median(np.abs(apart))), EVEN)
    groups = [np.clip(group, m - reach, m + reach) for group, m in zip(groups, medians, strict=True)]
    means = np.array([group.mean() for group in groups])
    within = sum(float(((group - mean) ** 2).sum()) for group, mean in zip(groups, means, strict=True))
    counts = np.array([len(group) for group in groups])
    return means, within + EVEN**2 * float(counts.sum()), counts


def _middle(group: Array, usual: float) -> float:
    """The median; of two values in the middle the more usual one, so that one odd evaluation of two decides nothing."""
    ordered = np.sort(group)
    two = ordered[(len(group) - 1) // 2], ordered[len(group) // 2]
    return float(min(two, key=lambda value: abs(value - usual)))


def _likelihood(ratio: float, means: Array, within: float, counts: Array) -> tuple[float, float]:
    """The log likelihood if effects have this variance, in variances of the scatter, and the mean of the effects."""
    variances = ratio + 1.0 / counts
    middle = float((means / variances).sum() / (1.0 / variances).sum())
    n, rest = float(counts.sum()), within + float(((means - middle) ** 2 / variances).sum())
    return -0.5 * n * np.log(rest / n) - 0.5 * float(np.log1p(ratio * counts).sum()), middle
