"""How a run is doing, in sentences, each with what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aegisbo.optimizer.failure_reasons import cut
from aegisbo.optimizer.limits import broken_by
from aegisbo.outcome import RESULTS
from aegisbo.printable import duration, in_a_row, so_many
from aegisbo.review.convergence import Step, convergence
from aegisbo.review.curves import MISTAKEN, foretelling, mistaken_stops, spared, stopped_trials
from aegisbo.review.failure_groups import FailureGroup, failure_groups
from aegisbo.review.guessed import guessed
from aegisbo.review.landscape import Landscape, Models
from aegisbo.review.reasons import Calibration, calibration, predictions
from aegisbo.review.record import Record
from aegisbo.review.team import by_draw, by_share, team_of
from aegisbo.review.timeline import WAITING, timeline
from aegisbo.space.cube import Grid
from aegisbo.space.parameters import Choice, Int, Real

Level = Literal["good", "note", "warning", "bad"]

FEW = 10  # evaluations needed to say something about a trend
RECENT = 0.25  # the last part of a run
NOTICEABLE = 0.01  # smallest gain that counts, as a share of the improvement since the first points
EDGE = 0.01  # of a range
IRRELEVANT = 0.01  # of the variation
WELL_USED = 0.9  # share of the workers' time
OFTEN = 0.1  # share of the evaluations that fail
SLOW = 1.25  # times as long as on a typical worker
COUNTED = ("lost", "busy", "failed", "ended")  # of each worker
SURELY = 0.001  # the chance that one of several workers would look this bad if all were alike
FORETELLS = 0.3  # least rank correlation of reports with the ends


@dataclass(frozen=True)
class Finding:
    """One thing that is worth knowing."""

    topic: str
    level: Level
    text: str
    remedy: str  # what to do; empty if nothing


def health(record: Record, models: Models) -> tuple[Finding, ...]:
    """What is worth knowing about a run, the most urgent first."""
    checks: Sequence[Callable[[Record, Models], Iterator[Finding]]] = (
        _progress,
        _workers,
        on_team,
        _failures,
        _limits,
        on_predictions,
        _edges,
        _guess,
        _irrelevant,
        _stopping,
        _reports,
        _wasted,
    )
    order = ("bad", "warning", "note", "good")
    found = [finding for check in checks for finding in check(record, models)]
    return tuple(sorted(found, key=lambda finding: order.index(finding.level)))


def _progress(record: Record, models: Models) -> Iterator[Finding]:
    """Whether it is still improving."""
    steps = convergence(record)
    better = [step for step in steps if step.improved]
    if not better:
        if record.objectives and any(step.value is not None for step in steps):
            yield _no_progress(steps)
        elif any(step.value is not None for step in steps):
            text = f"None of {len(steps)} evaluations has kept all limits. The best is the one that came closest."
            yield Finding("progress", "bad", text, "Continue, or loosen a limit.")
        elif steps:
            text = f"None of {len(steps)} evaluations gave a value."
            yield Finding("progress", "bad", text, "See the failures below.")
        else:
            yield Finding("progress", "note", "No evaluation has ended yet.", "")
        return
    if record.objectives:
        yield _front_progress(record, steps)
        return
    last, count = better[-1], len(steps)
    where = f"Evaluation {last.evaluation} of {count} (trial {last.number}) gave the best value, {last.best:.6g}"
    if count < FEW:
        yield Finding("progress", "note", f"{where}.", "There are too few evaluations to see a trend: continue.")
        return
    recent = max(round(RECENT * count), 1)
    gain, way = (sum(step.gain for step in some) for some in (steps[-recent:], steps[1:]))
    rate = f"{gain / recent:.3g} per evaluation over the last {recent}"
    if gain > NOTICEABLE * way:
        yield Finding("progress", "good", f"{where}. The best is still improving, by {rate}.", _longer(record))
    elif gain > 0:
        text = f"{where}. The best is hardly improving any more: {rate}."
        yield Finding("progress", "note", text, f"Stop if {gain:.2g} does not matter to you. {_longer(record)}")
    else:
        text = f"{where}. None of the {count - last.evaluation} evaluations since then was better."
        yield Finding(
            "progress", "note", text, "Stop here, widen the space, or give it more evaluations to look elsewhere."
        )


def _no_progress(steps: Sequence[Step]) -> Finding:
    """Why no evaluation has moved the front."""
    if any(step.counts for step in steps):
        text = f"None of {len(steps)} evaluations has moved the front, which was observed elsewhere."
        return Finding("progress", "note", text, "Continue, or widen the space.")
    text = f"None of {len(steps)} evaluations has kept all limits, so there is no front."
    return Finding("progress", "bad", text, "Continue, or loosen a limit.")


def _front_progress(record: Record, steps: Sequence[Step]) -> Finding:
    """Whether the front is still moving: what the last quarter of the evaluations added to its hypervolume."""
    last, count = [step for step in steps if step.improved][-1], len(steps)
    size = so_many(len(record.result.front), "trial")
    where = f"Evaluation {last.evaluation} of {count} (trial {last.number}) was the last to move the front of {size}"
    if count < FEW:
        return Finding("progress", "note", f"{where}.", "There are too few evaluations to see a trend: continue.")
    recent = max(round(RECENT * count), 1)
    share = sum(step.gain for step in steps[-recent:]) / (last.best or 1.0)
    added = f"the last {recent} evaluations added {100.0 * share:.2g} % of its hypervolume"
    if share > NOTICEABLE:
        return Finding("progress", "good", f"{where}. It is still moving: {added}.", _longer(record))
    if share > 0.0:
        text = f"{where}. It is hardly moving any more: {added}."
        return Finding("progress", "note", text, f"Stop if this does not matter to you. {_longer(record)}")
    text = f"{where}. None of the {count - last.evaluation} evaluations since then has moved it."
    return Finding("progress", "note", text, "Stop here, widen the space, or give it more evaluations to fill gaps.")


def _longer(record: Record) -> str:
    return "" if record.driven else "To continue, make the same call with a larger budget."


def _workers(record: Record, models: Models) -> Iterator[Finding]:
    """Whether workers were idle, and why."""
    time = timeline(record)
    if not time.workers:
        return
    shares = time.shares()
    starts = [gap.seconds for gap in time.gaps if gap.starting and gap.cause == "pool"]
    if starts:  # they take the same time however long an evaluation is
        shares["starting"] = sum(starts) / sum(worker.total for worker in time.workers)
        shares["pool"] = max(shares["pool"] - shares["starting"], 0.0)
    count = len(time.workers)
    cause = max(shares, key=lambda each: shares[each])
    causes = {**WAITING, "starting": "starting up", "pool": "sending points"}
    waited = ", ".join(f"{share:.0%} {causes[each]}" for each, share in shares.items() if share >= 0.005)
    who = f"The {count} workers" if count > 1 else "The worker"
    text = f"{who} spent {time.utilization:.0%} of the time evaluating" + (f", {waited}." if waited else ".")
    remedies = {
        "suggestion": "Evaluations are short compared with choices: try preset='modern', or put several into one.",
        "pool": 'Evaluations are short compared with sending them: put several into one, or try executor="threads".',
        "starting": f"Processes started {so_many(len(starts), 'time')} and took up to {max(starts, default=0.0):.2g} s "
        "each. This matters less in a longer run. If the function imports a lot, import only what it needs.",
        "nothing": "Near the end there are fewer evaluations left than workers. A longer run uses them better.",
        "idle": "Record the next run in a study. This page then says what they waited for.",
    }
    busiest = sorted(worker.utilization for worker in time.workers)
    if count > 1 and busiest[-1] - busiest[0] > 0.25:
        text += f" The least busy worker spent {busiest[0]:.0%} of its time evaluating, the busiest {busiest[-1]:.0%}."
    well = time.utilization >= WELL_USED
    more = "More workers would be kept busy, too." if well and shares.get("suggestion", 0.0) < 0.02 else ""
    yield Finding("workers", "good" if well else "warning", text, more if well else remedies[cause])


def on_team(record: Record, models: Models) -> Iterator[Finding]:
    """Which workers are slow, are lost or fail more often than the others."""
    team = team_of(record)
    slow = [f"{each.pace:.2g} times as long on worker {each.worker}" for each in team if each.pace >= SLOW]
    if slow:
        text = f"Evaluations take {in_a_row(slow)} as the same points on a typical worker."
        remedy = "See what else runs there. Time limits and `aegisbo advise` take it into account."
        yield Finding("uneven workers", "note", text, remedy)
    lost, busy, failed, ended = (sum(getattr(each, name) for each in team) for name in COUNTED)
    odd = SURELY / max(len(team), 1)
    for each in team:
        if by_share(each.lost, lost, each.busy, busy) < odd:
            text = f"{each.lost} of {lost} lost evaluations were lost with worker {each.worker}."
            yield Finding("uneven workers", "warning", text, "Look at its machine: its memory, or who takes it away.")
        if by_draw(each.failed, failed, each.ended, ended) < odd:
            text = f"{each.failed} of {each.ended} evaluations on worker {each.worker} failed"
            text += f", and {failed - each.failed} of {ended - each.ended} on the others."
            yield Finding(
                "uneven workers", "warning", text, "Look at its machine: something may be missing or full there."
            )


def _failures(record: Record, models: Models) -> Iterator[Finding]:
    """What failed, and where."""
    groups = failure_groups(record)
    if not groups:
        return
    failed, ended = sum(len(group.numbers) for group in groups), len(record.ended)
    seconds = sum(group.seconds for group in groups)
    text = f"{failed} of {ended} evaluations gave no value and took {seconds:.3g} s. Most often: {_quoted(groups[0])}."
    remedy = "See their messages below. After you have fixed the function, `aegisbo retry` runs them again."
    told = next((group for group in groups if group.region is not None), None)
    if told is not None and (region := told.region) is not None:
        how = "like this" if told is groups[0] else f"with {_quoted(told)}"
        text += f" Where {region.text}, {region.failed} of {region.inside} evaluations failed {how}."
        remedy = f"If {region.text} cannot work, exclude it from the space. {remedy}"
    if any(group.state == "timed_out" for group in groups):
        remedy += " Some ran out of time: raise trial_timeout if they would have finished."
    yield Finding("failures", "warning" if failed > OFTEN * ended else "note", text, remedy)


def _limits(record: Record, models: Models) -> Iterator[Finding]:
    """Which limits were broken, and which of them binds."""
    broken = [broken_by(trial, record.optimizer.settings.limits) for trial in record.ended]
    counts = Counter(limit.text for limits in broken for limit in limits)
    if not counts:
        return
    told = ", ".join(f"{limit} in {count}" for limit, count in counts.most_common())
    text = f"{sum(map(bool, broken))} of {len(broken)} evaluations broke a limit: {told}."
    binding = [each.limit for each in record.result.limits if each.binds and each.slack >= 0.0]
    if binding:
        text += f" {' and '.join(binding)} {'binds' if len(binding) == 1 else 'bind'}: better values may lie beyond."
    yield Finding("limits", "note", text, "")


def _quoted(group: FailureGroup) -> str:
    return f"“{cut(group.reason.rstrip('.'), 80)}”"


def on_predictions(record: Record, models: Models) -> Iterator[Finding]:
    """Whether the model predicts well: its predictions at the time, and those with one result left out."""
    for name in record.optimizer.settings.directions:
        yield from _on_model(calibration(predictions(record, name)), models.get(name), name)


def _on_model(then: Calibration | None, model: Landscape | None, objective: str | None) -> Iterator[Finding]:
    left_out = None if model is None else calibration(model.left_out)
    topic = "model" if objective is None else f"model of {objective}"
    parts, poor, narrow = [], False, False
    if then is not None and then.count >= FEW:
        parts.append(f"{then.within:.0%} of {then.count} values lay within the 95 % band predicted for them")
        narrow = then.within < 0.85
    if left_out is not None and left_out.count >= FEW:
        share = left_out.error / left_out.spread if left_out.spread > 0 else 1.0
        parts.append(
            f"with one result left out at a time, the model's error is {min(share, 1.0):.0%} of that of guessing the "
            f"median ({left_out.within:.0%} within the band)"
        )
        poor = share > 0.7
    if not parts:
        return
    text = f"{'; '.join(parts)}."
    text = text[0].upper() + text[1:]
    if poor:
        remedy = (
            "The function may be noisy, jump, or need another scale: try log=True for parameters that span magnitudes."
        )
        yield Finding(topic, "warning", text, remedy)
    elif narrow:
        remedy = "The model is too confident near the best points. That is common where values jump or are noisy."
        yield Finding(topic, "note", text, remedy)
    else:
        yield Finding(topic, "good", text, "")


def _edges(record: Record, models: Models) -> Iterator[Finding]:
    """Parameters whose best value, or that of the whole front, lies at the edge of their range."""
    best = record.center
    if best is None or len(record.ended) < FEW:
        return
    space, good = record.optimizer.space, record.result.front or (best,)
    matters = _mattering(models)
    for (name, parameter), axis in zip(space.parameters.items(), space.cube.axes, strict=True):
        if (
            isinstance(parameter, Choice)
            or (isinstance(axis, Grid) and axis.size < 3)
            or (models and name not in matters)
        ):
            continue
        margin = 0.75 / axis.size if isinstance(axis, Grid) else EDGE
        ends = {_end_at(parameter, trial.params[name], margin) if name in trial.params else None for trial in good}
        if len(ends) == 1 and (end := ends.pop()):
            bound = parameter.low if end == "lower" else parameter.high
            value = f"The best {name}, {best.params[name]:.4g}, lies"
            if len(good) > 1:
                value = f"All {len(good)} trials of the front have a {name}"
            yield Finding(
                "range",
                "warning",
                f"{value} at the {end} end of its range ({bound:.4g}).",
                f"If it may go {'below' if end == 'lower' else 'above'} that, widen the range: the same study can "
                "continue.",
            )


def _mattering(models: Models) -> set[str]:
    """The parameters that matter to any objective."""
    return {each.parameter for model in models.values() for each in model.importances if each.total >= IRRELEVANT}


def _end_at(parameter: Real | Int, value: Any, margin: float) -> str | None:
    """The end of its range at which a value lies; None if it lies at none."""
    u = parameter.encode(value)[0]
    return None if min(u, 1.0 - u) > margin else "lower" if u < 0.5 else "upper"


def _guess(record: Record, models: Models) -> Iterator[Finding]:
    """Whether what the user has guessed held."""
    found = guessed(record)
    if found is None or len(record.ended) < FEW:
        return
    remedy = "The guess counts less with each result. You can also change it: the same study continues."
    yield Finding("guess", *(("warning", found.text, remedy) if found.missed else ("good", found.text, "")))


def _irrelevant(record: Record, models: Models) -> Iterator[Finding]:
    """Parameters that do not matter, as far as the model knows."""
    few = FEW * record.optimizer.space.cube.parameters
    if not models or any(model.fitted < few for model in models.values()):
        return
    matters = _mattering(models)
    names = [each.parameter for each in next(iter(models.values())).importances if each.parameter not in matters]
    if names and matters:
        which, among = ", ".join(names), "the model" if len(models) == 1 else "any model"
        yield Finding(
            "parameters",
            "note",
            f"Less than {IRRELEVANT:.0%} of the variation in {among} is due to {which}.",
            "Fix " + ("it" if len(names) == 1 else "them") + " at a cheap value: fewer parameters are quicker to tune.",
        )


def _stopping(record: Record, models: Models) -> Iterator[Finding]:
    """What stopping early has spared, and whether it has probably cost the best evaluation."""
    stopped, time, ends = stopped_trials(record), spared(record), record.expected_ends
    if not stopped:
        return
    were = "was" if len(stopped) == 1 else "were"
    text = f"{len(stopped)} of {len(record.ended) + len(stopped)} evaluations {were} stopped early"
    text += f", which spared about {duration(time.seconds)} of the workers' time." if time else "."
    told = [ends[trial.number].chance for trial in stopped if trial.number in ends]
    if mistaken := [trial.number for trial in mistaken_stops(record)]:
        which = f"trial {in_a_row(mistaken)}"
        text += f" By their curves, {len(mistaken)} would probably have ended better than the best ({which})."
        remedy = "Where curves cross, early values mislead. Evaluate such a point to its end, or leave stop_early out."
        yield Finding("stopping", "warning", text, remedy)
        return
    if told:
        text += f" By their curves, {sum(told):.2g} of {len(told)} can be expected to have ended better than the best."
    yield Finding("stopping", "good" if sum(told) < MISTAKEN else "note", text, "")


def _reports(record: Record, models: Models) -> Iterator[Finding]:
    """Whether there are reports by which evaluations can be stopped, and whether they are good for it."""
    if record.optimizer.settings.stop_early is None or not record.ended:
        return
    if not any(trial.reports for trial in record.trials):
        text = f"stop_early is on, but none of {so_many(len(record.ended), 'evaluation')} has reported anything."
        remedy = "Call aegisbo.report(value, step=...) while the function runs, or let the program print its values."
        yield Finding("reports", "warning", text, remedy)
    found = foretelling(record)
    if found is not None and found.count >= FEW and found.correlation < FORETELLS:
        text = (
            f"Reports hardly foretell the end: for the {found.count} evaluations with a value, values at step "
            f"{found.step:g} and at the end have a rank correlation of {found.correlation:.2f}."
        )
        remedy = (
            "Those that were stopped are not among them. Report what says more about the end, or leave stop_early out."
        )
        yield Finding("reports", "warning", text, remedy)


def _wasted(record: Record, models: Models) -> Iterator[Finding]:
    """What was wasted: evaluations that were lost or cut short, and points chosen twice."""
    bars = timeline(record).bars
    wasted = [bar for bar in bars if bar.state in ("lost", "interrupted")]
    if wasted:
        seconds = sum(bar.seconds for bar in wasted)
        lost = sum(bar.state == "lost" for bar in wasted)
        parts = [
            f"{lost} were lost with their worker" if lost else "",
            f"{len(wasted) - lost} were running when their driver ended" if len(wasted) > lost else "",
        ]
        waiting = not record.driven and any(record.trials[bar.number].state == "pending" for bar in wasted)
        yield Finding(
            "wasted",
            "note",
            f"{len(wasted)} evaluations ({seconds:.3g} s) ended without a result: {' and '.join(filter(None, parts))}.",
            "The same call evaluates pending trials again." if waiting else "",
        )
    chosen = [trial for trial in record.trials if trial.state in ("pending", *RESULTS, "stopped")][-20:]
    replaced = sum("guard" in trial.note for trial in chosen)
    if len(chosen) == 20 and replaced >= 5:
        yield Finding(
            "wasted",
            "note",
            f"{replaced} of the last 20 choices would have repeated an earlier point and were replaced.",
            "The model expects little more here: stop, or widen the space.",
        )
