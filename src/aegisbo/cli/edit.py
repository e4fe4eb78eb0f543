"""`aegisbo add`, `set`, `retry` and `forget`: change a study, also while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from aegisbo.address import Place
from aegisbo.cli.arguments import Study, as_ranges, assigned, numbers_in
from aegisbo.options import CHANGEABLE, NONE_AT_ZERO, SHARED

if TYPE_CHECKING:
    from aegisbo.study.state import State

OWN = [name for name in CHANGEABLE if name not in SHARED]  # of each copy
EXAMPLES_OF_SET = f"""Examples:

- `aegisbo set run.db budget=400 workers=8`
- `aegisbo set run.db trial_timeout=60 target=0.01 timeout=none`

What can be set: `{"`, `".join(CHANGEABLE)}`, each as for `minimize`; `none` for no limit. Copies of `aegisbo work` have
their own `{"` and `".join(OWN)}`.
"""
Name = Annotated[
    str | None,
    typer.Option("--author", metavar="NAME", help="Who does this, a person or a program; the study keeps it."),
]
TRIALS = "Trials such as `3`, `3-17` or `3,5,8-10`."


def add(
    study: Study,
    values: Annotated[
        list[str], typer.Argument(metavar="NAME=VALUE...", help="The point: a value for each parameter.")
    ],
    author: Name = None,
) -> None:
    """Try a point of your own next.

    A running study evaluates it as soon as a worker is free. It counts towards the budget.
    """
    from aegisbo.optimizer.trial import in_short
    from aegisbo.space.text import values_from
    from aegisbo.study import add as run
    from aegisbo.study.lock import is_driven

    params = run(study, values_from(_state(study).settings.space, assigned(values, "The value")), author=author)
    state = _state(study)
    waiting, ledger = len(state.optimizer.waiting), state.ledger
    queue = "It is next" if waiting < 2 else f"{waiting} points are waiting, and this one is the last"
    driven = "." if is_driven(study) else "; the study is not running: make the same call again to continue."
    full = ""
    if ledger.budget is not None and len(ledger.ended) + len(ledger.holders) + waiting > ledger.budget:
        remedy = f"give a larger one (`aegisbo set {quote(str(study))} budget=N`)."
        full = f" The budget of {ledger.budget} has no room for it: {remedy}"
    typer.echo(f"Added: {in_short(params)}. {queue}{driven}{full}")


def set_(
    study: Study,
    changes: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="What to change, and to what.")],
    author: Name = None,
) -> None:
    """Change the budget, the workers or other settings of a run.

    With fewer workers, evaluations that are running may finish. The same call again keeps what was set; a call with
    another value than the call before it overrides it.
    """
    from aegisbo.space.text import meaning_of
    from aegisbo.study import change
    from aegisbo.study.lock import is_driven

    wanted = {name: meaning_of(text) for name, text in assigned(changes, "The setting").items()}
    running = is_driven(study)  # asked first: what is set now may end the run
    wanted = {name: None if name in NONE_AT_ZERO and value == 0 else value for name, value in wanted.items()}
    made = change(study, author=author, **wanted)
    ledger = _state(study).ledger
    if not running:
        when = "The study is not running: make the same call again to continue it."
    elif ledger.copies:
        when = "Each copy follows when it next reads the study."
    else:
        when = "The run follows within a second or so."
    if "budget" in made and ledger.spent:
        when += f" {len(ledger.ended)} evaluations have ended already, so it is spent."
    typer.echo(f"Set {', '.join(f'{name}={value}' for name, value in made.items())}. {when}")


def retry(
    study: Study,
    numbers: Annotated[str | None, typer.Argument(metavar="[NUMBERS]", help=TRIALS)] = None,
    author: Name = None,
) -> None:
    """Run trials again: those named, or all without a value.

    The next run of this study (`minimize`, or copies of `work`) evaluates them first, with the same numbers and points.
    If a named trial has a value, it is dropped. The file keeps a record of everything that happened.
    """
    from aegisbo.study import retry as run

    changed = run(study, None if numbers is None else numbers_in(numbers, "NUMBERS"), author=author)
    if not changed:
        typer.echo("Nothing to retry: no trial has ended without a value.")
        return
    typer.echo(f"{_trials(changed)} pending again: the next run of this study evaluates pending trials first.")


def forget(
    study: Study,
    numbers: Annotated[str, typer.Argument(metavar="NUMBERS", help=TRIALS)],
    author: Name = None,
) -> None:
    """Drop trials as if they had never been run.

    The model ignores them, they are never the best, and do not count towards the budget. The file keeps a record of
    everything that happened.
    """
    from aegisbo.study import forget as run

    changed = run(study, numbers_in(numbers, "NUMBERS"), author=author)
    typer.echo(f"{_trials(changed)} forgotten: neither results nor evaluations count any more.")


def _state(study: Place) -> State:
    from aegisbo.study.reading import read_events
    from aegisbo.study.state import State

    return State.after(read_events(study))


def _trials(numbers: Sequence[int]) -> str:
    """The subject of a sentence, with its verb."""
    one = len(numbers) == 1
    return f"{'Trial' if one else f'{len(numbers)} trials:'} {as_ranges(list(numbers))} {'is' if one else 'are'}"
