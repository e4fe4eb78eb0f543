"""A space in a TOML file: one table per parameter, in the order given."""

from __future__ import annotations

import tomllib
from os import PathLike
from pathlib import Path

from aegisbo.errors import InvalidInput
from aegisbo.space.space import Space


def read_space(path: str | PathLike[str]) -> Space:
    """Read a space from a TOML file.

    Args:
        path: a file with one table per parameter; its `type` is "real", "int" or "choice", its other keys are the
            arguments of `Real`, `Int` or `Choice`. Before the tables there may be `constraints`, a list of texts.

    Returns:
        A space with names.

    Raises:
        InvalidInput: the file cannot be read, is not TOML, or a table does not describe a parameter.
    """
    file = Path(path)
    try:
        return Space.from_description(tomllib.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise InvalidInput(f"The space file {file} cannot be read: {error.strerror}.") from error
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:  # from tomllib, also for a number with thousands of digits
        raise InvalidInput(f"The space file {file} is not TOML: {error}.") from error
