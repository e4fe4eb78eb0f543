"""Any program as the function: it gets parameters as arguments, and the last line that it prints is the value.

Lines such as step=3 value=0.71 are reports. No shell is involved. A program can also read its parameters from
environment variables (AEGISBO_lr, ...) or from the JSON file that AEGISBO_PARAMETERS names. AEGISBO_SLOT is the number
of its worker. Each trial keeps the end of its output.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aegisbo.errors import InvalidInput, require_posix
from aegisbo.number import number_in
from aegisbo.outcome import SD
from aegisbo.runners.own_folder import own_folder, tidy_up
from aegisbo.runners.pools.worker import die_with_parent
from aegisbo.runners.printed_reports import PrintedReports, as_printed_report
from aegisbo.runners.program_output import passed_on, tail
from aegisbo.runners.slots import FOLDER_VARIABLE, VARIABLE, folder_here, slot_here

if TYPE_CHECKING:
    from aegisbo.optimizer import Settings

FOLDER = "folder"  # {folder} is an empty folder for each evaluation, deleted afterwards
PLACEHOLDER = re.compile(r"\{(\w+)\}")
OPTION = re.compile(r"--?[A-Za-z][\w-]*")  # a word that belongs to the value after it
OURS = "AEGISBO_"  # prefix of the variables that hold a program's parameters
NOT_STARTED = "The program could not be started"


class ProgramFailed(Exception):
    """A program that gave no value."""


@dataclass(frozen=True)
class Command:
    """A program as a function of its parameters, such as Command("./simulate --lr {lr}"), for `minimize`.

    Args:
        text: the program and its arguments. {name} stands for the value of a parameter, {folder} for an empty folder
            that each evaluation gets for itself, or with `resumable=True` for that of its trial. Where conditions leave
            a parameter out, arguments that use it are left out too, with an option such as --lr right before them.
        value_file: the file to which the program writes its value, such as "{folder}/value"; by default the value is
            the last line that it prints.

    Raises:
        InvalidInput: the text is not a command line, or evaluations that run at once would share the value file.
    """

    text: str
    value_file: str | None = None
    measured: tuple[str, ...] = field(default=(), init=False)  # names of lines such as latency=3.2
    valued: bool = field(default=True, init=False)  # whether there is a value beside them, in the last line

    def __post_init__(self) -> None:
        require_posix("External programs")
        if not isinstance(self.text, str):
            raise InvalidInput(f"A command is text such as './simulate --lr {{lr}}', got {self.text!r}.")
        if not self.arguments:
            raise InvalidInput("The command is empty: give a program and its arguments.")
        if self.value_file is not None and not PLACEHOLDER.search(self.value_file):
            raise InvalidInput(
                f"The value file {self.value_file!r} is shared by evaluations that run at once: put it into {{folder}}."
            )

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words of the command, without values."""
        try:
            return tuple(shlex.split(self.text))
        except ValueError as error:
            raise InvalidInput(f"The command {self.text!r} cannot be split into words: {error}.") from error

    @property
    def words(self) -> str:
        """The templates that a run fills in: the command, and the name of its value file."""
        return " ".join((*self.arguments, self.value_file or ""))

    def measuring(self, names: Iterable[str], *, valued: bool = True) -> Command:
        """The same program, with lines such as latency=3.2 read from its output too, or instead of the value."""
        copy = Command(self.text, self.value_file)
        object.__setattr__(copy, "measured", tuple(names))
        object.__setattr__(copy, "valued", valued)
        return copy

    def __call__(self, **params: Any) -> Any:
        """Run the program and read its value, and other measured quantities by name.

        Of several objectives there is no value, but all of them by name.

        Raises:
            ProgramFailed: it gave no value; the message holds the end of its output.
        """
        with own_folder() as folder:
            values = {**{name: str(value) for name, value in params.items()}, FOLDER: folder}
            output, errors = Path(folder, ".stdout"), Path(folder, ".stderr")
            arguments = [_filled(argument, values) for argument in _those_there(self.arguments, values)]
            with output.open("wb") as out, errors.open("wb") as err, _started(arguments[0]):
                process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env={**os.environ, **_environment(params, Path(folder))},
                    preexec_fn=die_with_parent if sys.platform == "linux" else None,
                )
            reports = PrintedReports(process)
            with process, passed_on(output, errors, reports.heard):
                try:
                    code = process.wait()
                except BaseException:
                    process.kill()
                    raise
            if reports.stopped is not None:
                raise reports.stopped
            if code != 0:
                said = (_last(tail(file).split("\n")) for file in (errors, output))
                raise ProgramFailed(f"The program ended with code {code}: {next(filter(None, said), 'no output')}")
            return self._read(output if self.value_file is None else Path(_filled(self.value_file, values)))

    def _read(self, file: Path) -> Any:
        """The number in the last line of the file, and those in lines such as latency=3.2, if any are measured.

        Such a line is never the value. Several objectives are all in such lines, and there is no value.
        """
        try:
            lines = [line.strip() for line in tail(file).split("\n")]
        except FileNotFoundError:
            raise ProgramFailed(f"The program left no file {file.name} with its value.") from None
        if not self.measured:
            return _value(_last(lines))
        named = re.compile(rf"({'|'.join(self.measured)})\s*=\s*(\S+)")
        found = {match[1]: match[2] for line in lines if (match := named.fullmatch(line))}
        numbers = {name: _as_number(text, f"The line {name}=...") for name, text in found.items()}
        if not self.valued:
            return numbers
        return _value(_last([line for line in lines if not named.fullmatch(line)])), numbers


def reading(fun: Any, settings: Settings) -> Any:
    """The function of a run; a program gets the names of quantities to read from its output."""
    wanted = settings.wanted
    names = (*wanted.names, *([SD] if settings.noisy and not wanted.objectives else []))
    return fun.measuring(names, valued=not wanted.objectives) if names and isinstance(fun, Command) else fun


def leave_nothing(fun: Any) -> None:
    """Delete the folders of programs that were killed; call it when the workers are gone."""
    if isinstance(fun, Command):
        tidy_up()


def warn_if_unused(fun: Any, names: Iterable[str]) -> None:
    """Warn about parameters that a command does not use, if it uses others: they are in the best point nevertheless."""
    if not isinstance(fun, Command) or OURS in fun.words:
        return
    given = set(PLACEHOLDER.findall(fun.words))
    unused = [name for name in names if name not in given]
    if unused and given.intersection(names):
        missing = " and ".join(f"{{{name}}}" for name in unused)
        variables = " and ".join(f"{OURS}{name}" for name in unused)
        getLogger("aegisbo").warning(
            f"The command does not use {missing}. This cannot affect the value unless the program reads {variables} "
            f"or the file that {OURS}PARAMETERS names."
        )


@contextmanager
def _started(program: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ProgramFailed(f"{NOT_STARTED} ({program!r}: {error.strerror}).") from error


def _those_there(arguments: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """The arguments without those that hold a parameter without a value, and without the options before them."""
    kept: list[str] = []
    for argument in arguments:
        if all(name in values for name in PLACEHOLDER.findall(argument)):
            kept.append(argument)
        elif PLACEHOLDER.fullmatch(argument) and len(kept) > 1 and OPTION.fullmatch(kept[-1]):
            kept.pop()
    return kept


def _filled(text: str, values: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _environment(params: dict[str, Any], folder: Path) -> dict[str, str]:
    file = folder / ".parameters.json"
    file.write_text(json.dumps(params), encoding="utf-8")
    slot, kept = slot_here(), folder_here()
    return {
        **({} if slot is None else {VARIABLE: str(slot)}),
        **({} if kept is None else {FOLDER_VARIABLE: str(kept)}),
        f"{OURS}PARAMETERS": str(file),
        **{f"{OURS}{name}": str(value) for name, value in params.items()},
    }


def _last(lines: Sequence[str]) -> str:
    """The last line that is not blank."""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _value(text: str) -> float:
    """The number in the last line, or the value in it if it is a report."""
    report = as_printed_report(text)
    return _as_number(text) if report is None else report[1]


def _as_number(text: str, what: str = "The last line") -> float:
    if (number := number_in(text)) is None:
        raise ProgramFailed(f"{what} must be one number, but was {text[:200]!r}.")
    return number
