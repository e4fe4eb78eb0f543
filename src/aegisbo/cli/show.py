"""`aegisbo show`: what a study file holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegisbo.cli.arguments import Study, counted
from aegisbo.cli.tables import Terminal, local_time
from aegisbo.errors import InvalidInput, TrialError, UnknownName
from aegisbo.printable import duration, printable

if TYPE_CHECKING:
    from rich.table import Table

    from aegisbo.cli.trial_table import Row
    from aegisbo.events import Event
    from aegisbo.optimizer import Core, Trial
    from aegisbo.outcome import Report
    from aegisbo.review.failure_groups import FailureGroup
    from aegisbo.review.record import Record
    from aegisbo.stopping.expected_end import ExpectedEnd
    from aegisbo.study.known_then import StopMade

LAST = 20  # trials listed by default
REPORTS = 20  # of a trial listed, about
RUNNING = 8  # evaluations that report
KINDS = 5  # reasons for failures listed by default
LONGEST = 500  # characters of a reason, if all are listed
ORDERS = ("number", "value")


def show(
    study: Study,
    last: Annotated[int | None, counted("List the last N trials (default 20).", 0)] = None,
    best: Annotated[int | None, counted("List the best N trials.")] = None,
    front: Annotated[bool, typer.Option("--front", help="List the front of several objectives.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="List all trials without a value, and why.")] = False,
    trial: Annotated[int | None, counted("Show one trial in full, with its output.", -inf, metavar="NUMBER")] = None,
    sort: Annotated[
        str | None, typer.Option(metavar="ORDER", help="By `number`, or all of them by `value`, the best first.")
    ] = None,
) -> None:
    """Show the best point, what is running and what failed."""
    if sort is not None and sort not in ORDERS:
        raise UnknownName("order", sort, ORDERS)
    given = {"--last": last, "--best": best, "--front": front or None, "--failed": failed or None, "--trial": trial}
    chosen = [option for option, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise InvalidInput(f"{' and '.join(chosen)} exclude each other: leave one out.")
    from aegisbo.cli.trial_table import trial_tables
    from aegisbo.review.failure_groups import failure_groups
    from aegisbo.review.record import Record

    record = Record.of_study(study)
    if trial is not None:
        _show_trial(trial, record)
        return
    optimizer = record.optimizer
    by_value = "--best" if best is not None else "--sort" if sort == "value" else ""
    _require_that_it_has(record, front=front, by_value=by_value)
    console = Terminal()
    for line in _summary(record):
        console.print(line, style="bold" if line.startswith(("best ", "front ")) else None)
    groups = failure_groups(record)
    if groups:
        console.print("without a value:", _reasons(groups, whole=failed), sep="\n")
    if len(groups) > KINDS and not failed:
        console.print(f"      and {len(groups) - KINDS} other reasons: add --failed to see all")
    why = {number: k for k, group in enumerate(groups, start=1) for number in group.numbers}
    rows = [
        {**row, "breaks": what, "why": why.get(row["number"], "")}
        for row, what in zip(record.table, _breaks(optimizer), strict=True)
    ]
    if front:
        by_number = {row["number"]: row for row in rows}
        listed: Sequence[Row] = [by_number[trial.number] for trial in record.result.front]
    else:
        places = {} if record.objectives else _places(optimizer)
        listed = _chosen(rows, places, last, best, failed=failed, by_value=sort == "value")
    names = [each.name for each in record.objectives]
    for table in trial_tables(listed, console.width, reasons=failed, objectives=names) if listed else ():
        console.print("", table, sep="\n")


def _require_that_it_has(record: Record, *, front: bool, by_value: str) -> None:
    """Refuse the front of one number, and an order by value of several objectives."""
    from aegisbo.errors import OneNumber, SeveralObjectives

    if front and not record.objectives:
        raise OneNumber(f"{record.name} has one number and not several objectives, so there is no front: use --best.")
    if by_value and record.objectives:
        raise SeveralObjectives(f"{record.name} has several objectives, which {by_value} cannot order: use --front.")


def _summary(record: Record) -> Iterator[str]:
    """A summary in a few lines."""
    from aegisbo.optimizer.trial import in_short, states_of
    from aegisbo.review.guessed import guessed
    from aegisbo.review.health import on_team
    from aegisbo.review.timeline import WAITING, timeline

    optimizer, result = record.optimizer, record.result
    yield result.ending
    if spans := record.sittings:
        worked = duration(sum(last - first for first, last in spans))
        times = f" in {len(spans)} sittings" if len(spans) > 1 else ""
        yield f"began {local_time(spans[0][0])}, ran for {worked}{times}"
    observed = f"; observed elsewhere: {len(optimizer.observed)}" if optimizer.observed else ""
    yield f"{len(result.trials)} trials: {states_of(result.trials) or 'none yet'}{observed}"
    yield from _stopped(record)
    if optimizer.waiting:
        yield f"added and not yet tried: {'; '.join(map(in_short, optimizer.waiting))}"
    if record.state and (changed := record.state.ledger.terms.changed):
        yield f"set since it was called: {', '.join(f'{name}={value}' for name, value in changed.items())}"
    if record.objectives:
        yield from (f"{name}: {told}" for name, told in result.front_lines().items())
    elif result.best is not None:
        where = f"in trial {result.best.number}" if result.best.number >= 0 else "observed elsewhere"
        yield f"best {result.fun:.8g} {where}: {in_short(result.best.params)}"
    if (told := guessed(record)) is not None:
        yield f"guess: {told.text}"
    yield from (f"limit {standing}" for standing in result.limits)
    yield from _running(record)
    if (spent := timeline(record)).workers:
        shares = {"evaluating": spent.utilization, **{WAITING[k]: share for k, share in spent.shares().items()}}
        yield "workers: " + ", ".join(f"{share:.1%} {what}" for what, share in shares.items())
    yield from (finding.text for finding in on_team(record, {}))


def _stopped(record: Record) -> Iterator[str]:
    """What stopping early has spared, and how many of those would probably have been the best."""
    from aegisbo.printable import in_a_row
    from aegisbo.review.curves import mistaken_stops, spared, stopped_trials

    count, time, mistaken = len(stopped_trials(record)), spared(record), mistaken_stops(record)
    if count:
        saved = f", which spared about {duration(time.seconds)} of the workers' time" if time else ""
        which = in_a_row([trial.number for trial in mistaken])
        doubt = f"; {len(mistaken)} would probably have been better than the best: trial {which}" if mistaken else ""
        yield f"stopped early: {count}{saved}{doubt}"


def _running(record: Record) -> Iterator[str]:
    """How far evaluations are that report while they run, and where they are expected to end."""
    reporting = [trial for trial in record.optimizer.pending if trial.reports]
    for trial in reporting[:RUNNING]:
        end = record.expected_ends.get(trial.number)
        ahead = "" if end is None else f", will end at {_told(end)}"
        yield f"trial {trial.number} {'runs' if record.driven else 'is pending'}: {_at_step(trial.reports[-1])}{ahead}"
    if len(reporting) > RUNNING:
        yield f"      and {len(reporting) - RUNNING} others: `aegisbo report` shows all curves"


def _at_step(report: Report) -> str:
    return f"{'no number' if report.value is None else f'{report.value:.6g}'} at step {report.step:g}"


def _told(end: ExpectedEnd) -> str:
    return f"about {end.value:.4g} ± {end.sd:.2g}, the best with a chance of {end.chance:.0%}"


def _reasons(groups: Sequence[FailureGroup], *, whole: bool) -> Table:
    """Why trials have no value, the most frequent reason first: all in full and numbered, or a few shortened."""
    from rich.table import Table
    from rich.text import Text

    from aegisbo.optimizer.failure_reasons import cut
    from aegisbo.printable import printable

    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for k, group in enumerate(groups if whole else groups[:KINDS], start=1):
        number = f"{k}. " if whole else ""
        reason = cut(group.reason, LONGEST) if whole else cut(group.reason)
        if whole and (region := group.region) is not None:
            reason += f"\nwhere {region.text}, {region.failed} of {region.inside} evaluations failed like this"
        table.add_row(f"{number}{len(group.numbers):>5} ×", Text(printable(reason)))
    return table


def _breaks(optimizer: Core) -> Iterator[str]:
    """Which limits and constraints each point breaks, those observed elsewhere first."""
    from aegisbo.optimizer.limits import broken_by

    for trial in (*optimizer.observed, *optimizer.trials):
        limits = [limit.text for limit in broken_by(trial, optimizer.settings.limits)]
        constraints = optimizer.space.broken(trial.params) if trial.number < 0 else []  # no other point can
        yield ", ".join([*limits, *constraints])


def _places(optimizer: Core) -> Mapping[int, int]:
    """The place of each trial with a value, by number; the best has place 0."""
    from aegisbo.optimizer.best import ranking

    evidence = optimizer.measured()
    numbers = [trial.number for trial in (*optimizer.observed, *optimizer.trials) if trial.state == "done"]
    return {numbers[row]: place for place, row in enumerate(ranking(evidence, evidence.y))}


def _chosen(
    rows: Sequence[Row],
    places: Mapping[int, int],
    last: int | None,
    best: int | None,
    *,
    failed: bool,
    by_value: bool,
) -> Sequence[Row]:
    """The rows that the user asked for, in the order asked for."""
    from aegisbo.outcome import FAILURES

    def place(row: Row) -> int:
        return places.get(row["number"], len(places))

    if failed:
        return [row for row in rows if row["state"] in FAILURES]
    if best is not None:
        return sorted((row for row in rows if row["number"] in places), key=place)[:best]
    if last is None:
        last = len(rows) if by_value else LAST
    some = rows[max(len(rows) - last, 0) :]
    return sorted(some, key=place) if by_value else some


def _show_trial(number: int, record: Record) -> None:
    """Print one trial, or point observed elsewhere, in full."""
    from aegisbo.review.curves import thinned

    trials = (*record.optimizer.observed, *record.optimizer.trials)
    found = [(trial, row) for trial, row in zip(trials, record.table, strict=True) if trial.number == number]
    if not found:
        known = f"{trials[0].number} to {trials[-1].number} are known" if trials else "none was asked for yet"
        raise TrialError(f"There is no trial {number} in the study: {known}.")
    console = Terminal(soft_wrap=True)
    ((trial, row),) = found
    _print_pairs(console, _facts(trial, row, record.expected_ends.get(number), record.stops.get(number)))
    _print_pairs(console, trial.params.items(), "parameters")
    _print_pairs(console, _predicted(trial), "predicted when it was chosen")
    _print_pairs(console, trial.measured.items(), "measured")
    said = thinned(trial.reports, REPORTS)
    _print_pairs(console, [(f"step {each.step:g}", each.value) for each in said], "reports")
    _print_pairs(console, _history(number, record.events), "what happened")
    for heading, text in {"what it printed": trial.output, "traceback": trial.traceback}.items():
        if text:
            console.print(f"\n{heading}\n{text.rstrip()}")


def _facts(
    trial: Trial, row: dict[str, Any], end: ExpectedEnd | None, stop: StopMade | None
) -> Iterator[tuple[str, Any]]:
    from aegisbo.optimizer.trial import in_short

    times = {name: row[f"{name}_at"] for name in ("asked", "started", "ended")}
    yield "trial", trial.number
    yield "state", trial.state
    yield "value", trial.value
    yield "reason", trial.reason
    if trial.reports:
        yield "reported", _at_step(trial.reports[-1])
        yield "expected end", None if end is None else _told(end)
    if stop is not None:
        then = "" if stop.report is None else f"{_at_step(stop.report)}, "
        yield "known when stopped", f"{then}{stop.known} results, {stop.others} other curves"
    yield from ((name, None if at is None else local_time(at)) for name, at in times.items())
    yield "seconds", None if trial.seconds is None else f"{trial.seconds:.4g}"
    yield "worker", trial.worker
    yield "author", row.get("author") and printable(row["author"])
    told = {name: told for name, told in trial.note.items() if name != "author" and not isinstance(told, Mapping)}
    yield "why here", in_short(told)


def _predicted(trial: Trial) -> Iterator[tuple[str, str]]:
    """What was expected of each of several objectives."""
    from aegisbo.review.reasons import noted

    mean = trial.note.get("mean")
    for name in mean if isinstance(mean, Mapping) else ():
        expected, std = (noted(trial, which, name) for which in ("mean", "std"))
        if expected is not None and std is not None:
            yield name, f"{expected:.6g} ± {std:.3g}"


def _history(number: int, events: Iterable[Event]) -> list[tuple[str, str]]:
    """Every event of the trial but its reports, if it has more than a beginning and an end."""
    from aegisbo.events import Asked, Ended, Observed, Reported, concerns

    own = [event for event in events if concerns(event, number) and not isinstance(event, Reported)]
    if all(isinstance(event, Asked | Ended | Observed) for event in own):
        return []
    bodies = [(event, event.body) for event in own]
    return [
        (local_time(event.at), f"{event.kind} {body.get('value', body.get('reason', _by(event)))}")
        for event, body in bodies
    ]


def _by(event: Event) -> str:
    author = getattr(event, "author", None)
    return f"by {printable(author)}" if author else ""


def _print_pairs(console: Terminal, pairs: Iterable[tuple[str, Any]], title: str = "") -> None:
    known = [(name, value) for name, value in pairs if value is not None or title]
    if title and known:
        console.print(f"\n{title}")
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        console.print(f"{'  ' * bool(title)}{name:<{width}}  {value}".rstrip())
