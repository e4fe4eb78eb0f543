"""Trials as a pandas table, with the types that the parameters have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aegisbo.errors import MissingExtra
from aegisbo.number import as_number
from aegisbo.optimizer.trial import ADDED, Trial, move_of
from aegisbo.space import Choice, Int, Space
from aegisbo.space.parameters import Parameter
from aegisbo.stopping.expected_end import ExpectedEnd

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def frame_of(
    trials: Sequence[Trial],
    space: Space,
    objectives: Sequence[str] = (),
    front: Sequence[Trial] = (),
    ends: Mapping[int, ExpectedEnd] = MappingProxyType({}),
) -> DataFrame:
    """A row for each trial, indexed by its number; of several objectives it says which trials are on their front.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise MissingExtra("A table of trials", "pandas") from error
    authors = [trial.author if move_of(trial) == ADDED else None for trial in trials]
    columns = {
        "state": pd.Categorical([trial.state for trial in trials]),
        "value": _floats([trial.value for trial in trials]),
        **({"sd": _floats([trial.sd for trial in trials])} if any(trial.sd is not None for trial in trials) else {}),
        **(_reported(trials, ends) if any(trial.reports for trial in trials) else {}),
        **{
            f"param_{name}": _column([trial.params.get(name, nan) for trial in trials], parameter)
            for name, parameter in space.parameters.items()
        },
        **{
            f"measured_{name}": _floats([trial.measured.get(name) for trial in trials])
            for name in dict.fromkeys(name for trial in trials for name in trial.measured)
        },
        **({"front": [trial.number in {best.number for best in front} for trial in trials]} if objectives else {}),
        "move": pd.Categorical([trial.note.get("move") for trial in trials]),
        **({"author": pd.Categorical(authors)} if any(authors) else {}),
        **_expected(trials, objectives),
        "started_at": pd.to_datetime(_floats([trial.started for trial in trials]), unit="s", utc=True),
        "ended_at": pd.to_datetime(_floats([trial.ended for trial in trials]), unit="s", utc=True),
        "seconds": _floats([trial.seconds for trial in trials]),
        "worker": pd.array([trial.worker for trial in trials], dtype="Int64"),
        "reason": pd.Series([trial.reason for trial in trials], dtype=object),
    }
    return pd.DataFrame(columns).set_index(pd.Index([trial.number for trial in trials], dtype="int64", name="number"))


def _reported(trials: Sequence[Trial], ends: Mapping[int, ExpectedEnd]) -> dict[str, Any]:
    """How far each has come, and where it is or was expected to end."""
    lasts = [trial.reports[-1] if trial.reports else None for trial in trials]
    expected = [ends.get(trial.number) for trial in trials]
    return {
        "step": _floats([last and last.step for last in lasts]),
        "reported": _floats([last and last.value for last in lasts]),
        "expected_end": _floats([end and end.value for end in expected]),
        "expected_end_sd": _floats([end and end.sd for end in expected]),
    }


def _expected(trials: Sequence[Trial], objectives: Sequence[str]) -> dict[str, Any]:
    """What was predicted when points were chosen, of each of several objectives."""

    def column(name: str, objective: str | None) -> Series[Any]:
        told = [trial.note.get(name) for trial in trials]
        if objective is not None:
            told = [each.get(objective) if isinstance(each, Mapping) else None for each in told]
        return _floats([as_number(each) for each in told])

    if not objectives:
        return {name: column(name, None) for name in ("mean", "std")}
    return {f"{name}_{each}": column(name, each) for each in objectives for name in ("mean", "std")}


def _floats(values: Sequence[float | None]) -> Series[Any]:
    import pandas as pd

    return pd.Series(values, dtype="float64")


def _column(values: Sequence[Any], parameter: Parameter) -> Any:
    """Numbers as numbers, choices as categories in their order; None cannot be a category.

    Parameters that a trial lacks are missing values.
    """
    import pandas as pd

    if isinstance(parameter, Choice):
        named = None not in parameter.values
        return pd.Categorical(values, categories=list(parameter.values)) if named else pd.Series(values, dtype=object)
    whole = "int64" if parameter.when is None else "Int64"  # of which the second knows missing values
    return pd.Series(values, dtype=whole if isinstance(parameter, Int) else "float64")
