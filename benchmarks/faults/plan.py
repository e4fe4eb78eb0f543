"""One run of `chaos`, drawn from its seed: what is searched, by whom and where, and what goes wrong meanwhile."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from diary import append_line

from aegisbo import Choice, Int, Real

HOSTILE = ["relu", "=1+1", "<b>x</b>", "\x1b[2J", "a b; touch x", "ü", ""]  # choices that somebody may obey
MODELS = (
    "aegis",
    "aegis-rs",
    "thompson",
    "ei",
    "kriging-believer",
    "local-penalization",
    "playbook",
    "local-quadratic",
)
PRESETS = ("modern", "modern", "paper", "adaptive")
ENGINES = ("processes", "processes", "copies", "copies", "threads", "serial", "futures", "broken futures", "loky")
LIMIT = 8.0  # seconds for one evaluation, where some hang

# What an evaluation does instead of returning its value, and how its trial must end.
ANYWHERE = {
    "none": "invalid",
    "text": "invalid",
    "nan": "invalid",
    "infinite": "invalid",
    "array": "invalid",
    "raises": "failed",
    "raises what cannot be pickled": "failed",
    "exits": "failed",
}
WHERE_A_PROCESS_MAY_DIE = {"dies once": "done", "leaves once": "done"}


class Unpicklable(Exception):
    """An exception that cannot be sent to another process."""

    def __reduce__(self) -> Any:
        raise TypeError("not me")


@dataclass(frozen=True)
class Plan:
    """What a seed decides."""

    seed: int
    space: dict[str, Any]
    constraints: tuple[str, ...]
    strategy: str
    preset: str | None
    engine: str
    workers: int
    budget: int
    slowest: float  # seconds of an evaluation
    hangs: bool
    faults: int
    jumps: bool  # of the driver's clock
    small_disk: bool
    meddles: bool  # the driver's own process opens and closes the study file

    @property
    def killable(self) -> bool:
        """Whether the driver may be killed: the workers of other engines are theirs to end."""
        return self.engine in ("processes", "copies", "threads", "serial")

    @property
    def workers_killable(self) -> bool:
        return self.engine in ("processes", "copies", "broken futures", "loky")

    def __str__(self) -> str:
        what = f"{self.engine}, {self.strategy}{f'/{self.preset}' if self.preset else ''}, {len(self.space)} parameters"
        extras = [name for name in ("hangs", "jumps", "small_disk", "meddles") if getattr(self, name)]
        more = [f"{len(self.constraints)} constraints"] if self.constraints else []
        return ", ".join([what, f"{self.workers} workers, budget {self.budget}", *more, *extras])


def plan_of(seed: int) -> Plan:
    """The plan of a run."""
    draw = random.Random(seed)
    space = _space(draw)
    reals = [name for name, each in space.items() if isinstance(each, Real) and not each.log and not each.when]
    engine = draw.choice([each for each in ENGINES if each != "loky" or find_spec("loky")])
    strategy = draw.choice(MODELS) if draw.random() < 0.3 else "random"  # which leaves more time for faults
    return Plan(
        seed=seed,
        space=space,
        constraints=(f"{reals[0]} < {reals[1]} + 4",) if len(reals) > 1 and draw.random() < 0.5 else (),
        strategy=strategy,
        preset=None if strategy == "random" else draw.choice(PRESETS),
        engine=engine,
        workers=draw.randint(1, 3) if engine != "serial" else 1,
        budget=draw.randint(8, 24),
        slowest=draw.choice([0.0, 0.05, 0.2]),
        hangs=engine in ("processes", "copies") and draw.random() < 0.15,
        faults=draw.randint(0, 6),
        jumps=draw.random() < 0.2,
        small_disk=engine in ("threads", "serial", "processes") and draw.random() < 0.15,
        meddles=engine != "copies" and draw.random() < 0.3,
    )


def _space(draw: random.Random) -> dict[str, Any]:
    space: dict[str, Any] = {"u": Real(-5.0, 10.0)}
    for k in range(draw.randint(0, 4)):
        when = None
        if "kind" in space and draw.random() < 0.4:
            when = {"kind": draw.choice(space["kind"].values)}
        kind = draw.choice(["real", "log", "int", "choice"])
        if kind == "choice" and "kind" not in space:
            space["kind"] = Choice(draw.sample(HOSTILE, draw.randint(2, 4)))
        elif kind == "int":
            space[f"n{k}"] = Int(1, draw.choice([3, 1000, 10**6]), log=draw.random() < 0.5, when=when)
        else:
            space[f"v{k}"] = Real(1e-3, 1e3, log=True, when=when) if kind == "log" else Real(-1.0, 2.0, when=when)
    return space


def key_of(params: dict[str, Any]) -> str:
    """The same text for the same point, wherever it is."""
    return json.dumps(params, sort_keys=True)


def _share(key: str, what: str) -> float:
    """A number from 0 to 1 that the point alone decides."""
    return int.from_bytes(hashlib.sha256(f"{what}{key}".encode()).digest()[:6]) / 2**48


def value_of(key: str) -> float:
    """The value of a point."""
    params = json.loads(key)
    return params["u"] ** 2 + sum(len(name) for name in params) + _share(key, "value")


def behavior_of(plan: Plan, key: str) -> str:
    """What the evaluation of a point does: mostly what it should."""
    kinds = [*ANYWHERE, *(WHERE_A_PROCESS_MAY_DIE if plan.workers_killable else ())]
    share = _share(key, "behavior")
    if plan.hangs and share > 0.93:
        return "hangs"
    k = int(share * 3 * len(kinds))
    return kinds[k] if k < len(kinds) else "behaves"


def ending_of(plan: Plan, key: str) -> str:
    """The state in which the trial of a point must be in the end."""
    return {**ANYWHERE, **WHERE_A_PROCESS_MAY_DIE, "hangs": "timed_out"}.get(behavior_of(plan, key), "done")


@dataclass(frozen=True)
class Evaluation:
    """The function: it keeps a diary where no crash of aegisbo can reach it, and then does what the point says."""

    plan: Plan
    diary: Path

    def __call__(self, **params: Any) -> Any:
        key, mark = key_of(params), self.diary.with_name(f"{_share(key_of(params), 'mark')}")
        append_line(self.diary, {"what": "begins", "key": key, "pid": os.getpid()})
        time.sleep(self.plan.slowest * _share(key, "seconds"))
        behavior = behavior_of(self.plan, key)
        if behavior.endswith("once"):
            behavior = "behaves" if mark.exists() else behavior
            mark.touch()
        answer = misbehave(behavior, key)
        append_line(self.diary, {"what": "ends", "key": key, "pid": os.getpid()})
        return answer


def misbehave(behavior: str, key: str) -> Any:
    """Do it; the value if there is nothing to do."""
    answers = {"none": None, "text": "0.5", "nan": float("nan"), "infinite": float("-inf"), "array": np.zeros(500_000)}
    match behavior:
        case "raises":
            raise ValueError(f"diverged \x1b[31m{'=' * 50}")
        case "raises what cannot be pickled":
            raise Unpicklable(open(os.devnull))  # noqa: SIM115 - the worst there is
        case "exits":
            sys.exit("enough")
        case "dies once":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leaves once":
            os._exit(0)
        case "hangs":
            time.sleep(3600)
    return answers[behavior] if behavior in answers else value_of(key)
