"""`aegisbo set`: another budget, other workers or limits, without stopping the run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aegisbo.cli.assignments import assigned
from aegisbo.cli.study_file import StudyFile
from aegisbo.options import CHANGEABLE, NONE_AT_ZERO, SHARED

OWN = [name for name in CHANGEABLE if name not in SHARED]  # of each copy
EXAMPLES = f"""Examples:

- `aegisbo set run.db budget=400 workers=8`
- `aegisbo set run.db trial_timeout=60 target=0.01 timeout=none`

What can be set: `{"`, `".join(CHANGEABLE)}`, each as for `minimize`; `none` for no limit. Copies of `aegisbo work` have
their own `{"` and `".join(OWN)}`.
"""


def set_(
    study: StudyFile,
    changes: Annotated[list[str], typer.Argument(metavar="NAME=VALUE...", help="What to change, and to what.")],
) -> None:
    """Change the budget, the workers or the limits of a run without stopping it.

    With fewer workers, evaluations that are running may finish. The same call again goes on with what was set; a call
    that asks for something else than the one before it decides anew.
    """
    from aegisbo.space.text import meaning_of
    from aegisbo.study import change

    wanted = {name: meaning_of(text) for name, text in assigned(changes, "The setting").items()}
    made = change(
        study, **{name: None if name in NONE_AT_ZERO and value == 0 else value for name, value in wanted.items()}
    )
    told = ", ".join(f"{name}={value}" for name, value in made.items())
    typer.echo(f"Set {told}. {_when(study)}{_spent(study) if 'budget' in made else ''}")


def _when(study: Path) -> str:
    """When it holds."""
    from aegisbo.study.lock import is_driven
    from aegisbo.study.reading import read_events
    from aegisbo.study.state import State

    if not is_driven(study):
        return "Nobody is at work: make the same call again to go on with it."
    if State.after(read_events(study)).ledger.copies:
        return "Each copy follows when it next reads the study."
    return "The run follows within a second or so."


def _spent(study: Path) -> str:
    """A remark if there is nothing left to do."""
    from aegisbo.study.reading import read_events
    from aegisbo.study.state import State

    ledger = State.after(read_events(study)).ledger
    return f" {len(ledger.ended)} evaluations have ended already, so it is spent." if ledger.spent else ""
