"""Results from elsewhere that a run takes in, each of them once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from aegisbo.events import OBSERVED
from aegisbo.optimizer import Trial
from aegisbo.outcome import Outcome
from aegisbo.space import Params

EARLIER = {**OBSERVED, "earlier": True}  # the note of a result that came with an earlier run, not as a pair
Observation = tuple[Params, Outcome]  # a point of the space, and how its evaluation ended elsewhere


def news_among(lists: Iterable[Sequence[Observation]], known: Iterable[Trial]) -> Iterator[Observation]:
    """What is new in several lists of results; one that is in two of them, or known already, is taken once."""
    seen = Counter(_key(trial.params, trial.state, trial.value) for trial in known)
    for observations in lists:
        here: Counter[str] = Counter()
        for params, outcome in observations:
            key = _key(params, outcome.state, outcome.value if outcome.state == "done" else None)
            here[key] += 1  # within one list, the same result twice is two results
            if here[key] > seen[key]:
                seen[key] += 1
                yield params, outcome


def _key(params: Params, state: str, value: float | None) -> str:
    return json.dumps([params, state, value], sort_keys=True)
