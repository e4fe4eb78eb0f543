"""Optuna's TPE with its pruners, as the loop of a run drives it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import process_time
from types import SimpleNamespace
from typing import Any, ClassVar

from aegisbo import Int, Space, Trial
from aegisbo.events import Ended, Event, Reported, ended
from aegisbo.outcome import Outcome, Report
from aegisbo.space.parameters import Parameter
from benchmarks.problems.trainings import EPOCHS

PEERS = ("tpe-full", "tpe-hyperband", "tpe-halving", "tpe-median")


class Pruned:
    """A study of Optuna in the place of ours."""

    pending: tuple[Trial, ...] = ()
    spent = False
    resumable = False
    paces: ClassVar[dict[int, float]] = {}
    settings = SimpleNamespace(stop_early=True)

    def __init__(self, study: Any, space: Mapping[str, Parameter]) -> None:
        self.study, self.space, self.distributions = study, Space(space), distributions(space)
        self.theirs: list[Any] = []
        self.trials: list[Trial] = []
        self.suggesting = self.reporting = 0.0

    @property
    def optimizer(self) -> Pruned:
        return self

    def trial(self, number: int) -> Trial:
        return self.trials[number]

    def ask(self, within: float | None = None, choosing: Any = None) -> Trial:
        begin = process_time()
        self.theirs.append(self.study.ask(self.distributions))
        self.suggesting += process_time() - begin
        params = self.theirs[-1].params
        self.trials.append(Trial(len(self.trials), self.space.arrange(params), params))
        return self.trials[-1]

    def reported(self, number: int, report: Report) -> Event:
        return Reported(number, *report)

    def answer(self, event: Event, number: int) -> str:
        assert isinstance(event, Reported)
        begin = process_time()
        self.theirs[number].report(event.value, int(event.step))
        pruned = self.theirs[number].should_prune()
        self.reporting += process_time() - begin
        return "pruned" if pruned else ""

    def reconsider(self, numbers: Iterable[int]) -> dict[int, str]:
        """Its pruners decide at reports only."""
        return {}

    def ended(self, number: int, outcome: Outcome, seconds: float | None = None) -> Event:
        return ended(number, outcome, seconds)

    def take_in(self, event: Event) -> None:
        from optuna.trial import TrialState

        assert isinstance(event, Ended)
        self.trials[event.number] = self.trials[event.number].after(event.outcome)
        if event.outcome.state == "done":
            self.study.tell(self.theirs[event.number], event.outcome.value)
        else:
            self.study.tell(self.theirs[event.number], state=TrialState.PRUNED)


def pruned(method: str, space: Mapping[str, Parameter], seed: int) -> Any:
    import optuna
    from optuna import pruners

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner = {
        "tpe-full": pruners.NopPruner,
        "tpe-hyperband": lambda: pruners.HyperbandPruner(1, EPOCHS, 3),
        "tpe-halving": pruners.SuccessiveHalvingPruner,
        "tpe-median": pruners.MedianPruner,
    }[method]()
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
    return Pruned(optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner), space)


def distributions(space: Mapping[str, Parameter]) -> dict[str, Any]:
    from optuna.distributions import FloatDistribution, IntDistribution

    return {
        name: IntDistribution(kind.low, kind.high, log=kind.log)
        if isinstance(kind, Int)
        else FloatDistribution(kind.low, kind.high, log=kind.log)
        for name, kind in space.items()
    }
