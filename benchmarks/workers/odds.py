"""How reliable the odds of going on are, and what a rule saves and loses that ends a run by them.

    python -m benchmarks.workers.odds odds.jsonl [--instances 6] [--tables hpobench-segment] [--terminator]

A run has 100 evaluations by 4 workers on the virtual clock. When 25, 50 and 75 have ended it is asked for the chance of
1 % better in the next 25, and what came is compared. Rules are followed on the same runs: they are asked at AT. The
file keeps what was computed: stop at any time, and repeat the command to go on. At its end it prints the tables of
docs/experiments/odds.md, of all runs in it. `--terminator` asks Optuna's as well. `--reference 8` lets the strategy
itself go on, with all its fits and searches, on 8 functions drawn from all models, as `aegisbo advise` simulates runs.
"""

from __future__ import annotations

import argparse
import math
import pickle
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import default_rng

from aegisbo.advice.stand_in import StandIn
from aegisbo.advice.teams import Team
from aegisbo.optimizer import Core, Settings
from aegisbo.review.landscape import needed_landscapes
from aegisbo.review.odds import PRIOR, foretold
from aegisbo.review.record import Record
from aegisbo.runners.loop import run
from aegisbo.runners.protocol import Finished
from aegisbo.simulation.clock import VirtualWorkers
from aegisbo.simulation.laws import half_normal
from aegisbo.strategies.belief import Belief
from aegisbo.strategies.continuation import models_of
from aegisbo.study import Study
from benchmarks.problems.bbob import FUNCTIONS, bbob, name_of
from benchmarks.problems.tables import PREFIX, TABLES, table
from benchmarks.rows import Kept

BUDGET, WORKERS, NEXT = 100, 4, 25
AT = (25, 35, 50, 62, 75)  # results when a rule is asked
ASKED = (25, 50, 75)  # of them, for reliability
REFERENCE = (50,)
LIMIT = 0.05  # a rule ends a run below this chance
BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 1.0)
Row = dict[str, Any]  # JSON-able


def studied(name: str, reference: int) -> Row:
    """One run, and what was foretold on the way."""
    problem = table(name) if name.startswith(PREFIX) else bbob(name)
    seed = crc32(name.encode())
    optimizer, asked = Core(Settings.checked(problem.bounds, seed=seed)), dict[str, Row]()
    values, points = list[float](), list[list[float]]()

    def watch(job: Finished) -> None:
        assert job.outcome.value is not None
        values.append(job.outcome.value)
        points.append(optimizer.space.encoded(optimizer.trial(job.number).params).tolist())
        if len(values) in AT:
            asked[str(len(values))] = answers(optimizer, reference if len(values) in REFERENCE else 0)

    run(Study(optimizer), VirtualWorkers(problem, WORKERS, half_normal, seed), BUDGET, watch=watch)
    return {"values": values, "points": points, "asked": asked}


def answers(optimizer: Core, reference: int) -> Row:
    """What is foretold of the next evaluations of a run as it is."""
    optimizer = pickle.loads(pickle.dumps(optimizer))
    start = time.process_time()
    found = foretold(Record.of_optimizer(optimizer, "running"), None, NEXT, WORKERS)
    row: Row = {
        "seconds": time.process_time() - start,
        "amount": found.amount,
        "drawn": found.drawn[-1:],
        "kept": found.kept,
        "promised": found.promised,
        "doubt": found.doubt,
    }
    if reference and not found.doubt:
        start = time.process_time()
        gains = [simulated(optimizer, number) for number in range(reference)]
        row |= {"gains": gains, "reference_seconds": time.process_time() - start}
    return row


def simulated(optimizer: Core, number: int) -> float:
    """What the strategy itself gains that goes on from here, on a function drawn from all models."""
    belief = needed_landscapes(optimizer)[None].belief
    assert isinstance(belief, Belief)
    models, weights = models_of(belief)
    model = models[default_rng(number).choice(len(models), p=weights)]
    drawn = replace(belief, gp=model.gp, scale=model.scale)
    stand_in = StandIn.of(optimizer, [drawn]).variant(2 * number + 1, 0)  # odd numbers are drawn
    clone: Core = pickle.loads(pickle.dumps(optimizer))
    team = Team(stand_in, WORKERS, batches=False, suggestion=0.0, seed=number)
    best = float(np.min(clone.evidence().y))
    done = run(Study(clone), team, NEXT).finished
    return best - min(job.outcome.value for job in done if job.outcome.value is not None)


def optuna_ends(row: Row, at: int) -> dict[str, bool]:
    """Whether Optuna's terminators would end a run here, with their defaults."""
    import optuna
    from optuna.distributions import FloatDistribution
    from optuna.terminator import EMMREvaluator, MedianErrorEvaluator, RegretBoundEvaluator, Terminator

    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study, space = optuna.create_study(), {f"x{k}": FloatDistribution(0.0, 1.0) for k in range(len(row["points"][0]))}
    for point, value in zip(row["points"][:at], row["values"], strict=False):
        params = dict(zip(space, point, strict=True))
        study.add_trial(optuna.create_trial(params=params, distributions=space, value=value))
    ends = {}
    for title, evaluator in (("EMMR", EMMREvaluator()), ("regret bound", RegretBoundEvaluator())):
        error = MedianErrorEvaluator(evaluator)
        ends[title] = bool(Terminator(evaluator, error, min_n_trials=1).should_terminate(study))
    return ends


def chance(asked: Row, prior: tuple[float, float] = PRIOR) -> float:
    """The chance that is told, again from what it is made of."""
    (share,) = asked["drawn"]
    hazard = -math.log1p(-share * 32.5 / 33.0)
    return 1.0 - (1.0 + hazard / (prior[1] + asked["promised"])) ** -(prior[0] + asked["kept"])


def gained(row: Row, at: int, until: int) -> float:
    """By how much the best value fell between two numbers of results."""
    return min(row["values"][:at]) - min(row["values"][:until])


def reliability(rows: Sequence[Row]) -> None:
    """Foretold and observed shares, and the Brier scores."""
    asked = [(row["asked"][str(at)], gained(row, at, at + NEXT)) for row in rows for at in ASKED]
    silent = [each for each, _ in asked if each["doubt"]]
    pairs = [(chance(each), each["drawn"][-1], gain > each["amount"]) for each, gain in asked if not each["doubt"]]
    print(f"{len(rows)} runs, asked {len(asked)} times; nothing was said {len(silent)} times\n")
    print("| foretold | how often | mean foretold | observed |\n|---|---|---|---|")
    for low, high in pairwise(BINS):
        some = [each for each in pairs if low <= each[0] < high]
        if some:
            told, seen = fmean(each[0] for each in some), fmean(each[2] for each in some)
            print(f"| {low:.0%} to {high:.0%} | {len(some)} | {told:.0%} | {seen:.0%} |")
    came = np.array([each[2] for each in pairs], dtype=float)
    for title, told in (
        ("told", [each[0] for each in pairs]),
        ("if all promises were kept", [each[1] for each in pairs]),
        ("always the base rate", [float(came.mean())] * len(came)),
    ):
        print(f"Brier score, {title}: {np.mean((np.array(told) - came) ** 2):.3f} (mean {fmean(told):.0%})")
    print(f"observed {came.mean():.0%}; seconds of one core: median {np.median([e['seconds'] for e, _ in asked]):.2f}")


def rules(rows: Sequence[Row], terminators: Mapping[str, dict[str, bool]]) -> None:
    """What rules save and lose that are asked at AT; those of Optuna only on the runs where they were asked."""
    print("\n| rule | runs ended | evaluations saved | ended runs that lost more than 1 % | 5 % | mean loss |")
    print("|---|---|---|---|---|---|")
    titles = dict.fromkeys(title for ends in terminators.values() for title in ends)
    for title in (f"chance below {LIMIT:.0%}", "no 1 % better in 15", "no 1 % better in 25", *titles):
        asked = [row for row in rows if title not in titles or f"{row['key']} {AT[-1]}" in terminators]
        saved, losses = 0, list[float]()
        for row in asked:
            at = next((at for at in AT if ends(title, row, at, terminators)), None)
            if at is not None:
                saved += BUDGET - at
                losses.append(0.01 * gained(row, at, BUDGET) / (row["asked"][str(at)]["amount"] or math.inf))
        lost = [sum(loss > share for loss in losses) for share in (0.01, 0.05)]
        mean = f"{fmean(losses):.1%}" if losses else "–"
        share = saved / BUDGET / max(len(asked), 1)
        print(f"| {title} | {len(losses)} of {len(asked)} | {share:.0%} | {lost[0]} | {lost[1]} | {mean} |")


def ends(title: str, row: Row, at: int, terminators: Mapping[str, dict[str, bool]]) -> bool:
    asked = row["asked"][str(at)]
    if title.startswith("chance"):
        return not asked["doubt"] and chance(asked) < LIMIT
    if title.startswith("no"):
        last = int(title.split()[-1])
        return at > last and gained(row, at - last, at) <= asked["amount"]
    return terminators[f"{row['key']} {at}"][title]


def references(rows: Sequence[Row]) -> None:
    """The quick continuation beside the strategy's own."""
    some = [(row["asked"][str(at)], gained(row, at, at + NEXT)) for row in rows for at in REFERENCE]
    some = [each for each in some if "gains" in each[0]]
    if not some:
        return
    slow = [fmean(gain > each["amount"] for gain in each["gains"]) for each, _ in some]
    quick, came = [each["drawn"][-1] for each, _ in some], [gain > each["amount"] for each, gain in some]
    seconds = fmean(each["reference_seconds"] / len(each["gains"]) for each, _ in some)
    print(f"\n{len(some)} runs at {REFERENCE}: the strategy itself promised {fmean(slow):.0%}, the quick continuation")
    print(f"{fmean(quick):.0%}, and {fmean(came):.0%} came. One continuation by the strategy took {seconds:.2f} s.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the file that keeps what was computed")
    parser.add_argument("--instances", type=int, nargs="+", default=[6])
    parser.add_argument("--functions", type=int, nargs="*", default=list(FUNCTIONS))
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 5])
    parser.add_argument("--tables", choices=[*TABLES["develop"], *TABLES["confirm"]], nargs="*", default=[])
    parser.add_argument("--terminator", action="store_true", help="ask Optuna's terminators about these runs, too")
    parser.add_argument("--reference", type=int, default=0, help="functions on which the strategy itself goes on")
    given = parser.parse_args()
    kept = Kept(given.results, ("key",))
    names = [name_of(f, i, d) for i in given.instances for f in given.functions for d in given.dimensions]
    for name in [*names, *(PREFIX + each for each in given.tables)]:
        row = kept.get((name,), studied, name, given.reference)
        for at in AT if given.terminator else ():
            kept.get((f"{name} {at}",), optuna_ends, row, at)
    rows = [row for row in kept.rows.values() if "values" in row]
    terminators = {
        row["key"]: {k: v for k, v in row.items() if k != "key"} for row in kept.rows.values() if row not in rows
    }
    reliability(rows)
    rules(rows, terminators)
    references(rows)


if __name__ == "__main__":
    main()
