"""A method, ours or a peer, as the loop of a run drives it."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Any, ClassVar

from aegisbo import Optimizer, Trial
from aegisbo.events import Ended, Lost, ended
from aegisbo.outcome import Outcome
from aegisbo.runners.loop import run
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.study import Study
from benchmarks.peers.catalog import PEERS


class Driven:
    """Remembers what became of the trials, and the processor time of each suggestion."""

    pending: tuple[Trial, ...] = ()
    spent = False
    resumable = False
    paces: ClassVar[dict[int, float]] = {}

    def __init__(self, method: Any) -> None:
        self.method = method
        self.trials: dict[int, Trial] = {}  # by number
        self.seconds: list[float] = []

    def ask(self, within: float | None = None, choosing: Any = None) -> Trial:
        begin = process_time()
        trial = self.method.ask()
        self.seconds.append(process_time() - begin)
        self.trials[trial.number] = trial
        return trial

    def ended(self, number: int, outcome: Outcome, seconds: float | None = None) -> Ended | Lost:
        return ended(number, outcome, seconds)

    def take_in(self, event: Ended) -> None:
        self.trials[event.number] = self.trials[event.number].after(event.outcome)
        self.told(event.number, event.outcome)

    def told(self, number: int, outcome: Outcome) -> None:
        """Tell the method."""
        if outcome.state != "done":
            raise RuntimeError(f"Trial {number} {outcome.state}: {outcome.reason}. Every problem here has a value.")
        self.method.tell(number, outcome.value)


def trials_of(
    method: str, bounds: Sequence[Any], workers: VirtualWorkers, budget: int, seed: int, peer: type[Driven], **ours: Any
) -> Sequence[Trial]:
    """What became of all trials of a run.

    Args:
        method: the name of a peer, or `strategy/preset`.
        bounds: of the parameters.
        workers: on the virtual clock.
        budget: evaluations.
        seed: of the method.
        peer: how a peer is driven.
        ours: further options of our optimizer.
    """
    if method in PEERS:
        driven = peer(PEERS[method].start(tuple(bounds), seed, 2 * len(bounds), False))
        run(driven, workers, budget)
        return list(driven.trials.values())
    strategy, _, preset = method.partition("/")
    optimizer = Optimizer(bounds, strategy=strategy, preset=preset or None, seed=seed, **ours)
    run(Study(optimizer), workers, budget)
    return optimizer.trials
