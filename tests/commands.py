"""Commands as a user types them: what they print, and how they refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer import Typer
from typer.testing import CliRunner

from aegisbo import cli


def call(*arguments: object, code: int = 0, of: Typer = cli.app) -> str:
    """What a command prints when it ends with this code: to standard output, after a failure also to standard error."""
    result = CliRunner().invoke(of, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output if code else result.stdout


def refuse(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *arguments: object,
    main: Callable[[], None] = cli.main,
) -> str:
    """What a command prints to standard error, and nothing else, when it ends with code 2."""
    monkeypatch.setattr("sys.argv", ["aegisbo", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err
