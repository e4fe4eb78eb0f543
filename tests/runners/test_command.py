"""Any program as the function."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from aegisbo import errors, minimize
from aegisbo.errors import AegisError, InvalidInput
from aegisbo.runners import own_folder as own_folder_module
from aegisbo.runners.arguments import check_command
from aegisbo.runners.command import Command, ProgramFailed, warn_if_unused
from aegisbo.runners.output import KEPT
from aegisbo.runners.work import work
from aegisbo.space import Choice, Real, Space


def program(code: str, *arguments: str, value_file: str | None = None) -> Command:
    """A Python program as a command, through the same door as a user's text."""
    quoted = " ".join(f"'{word}'" for word in (sys.executable, "-c", code, *arguments))
    return Command(quoted, value_file)


def test_values_go_in_as_arguments_and_the_last_line_comes_out() -> None:
    command = program(
        'import sys; print("log"); print(len(sys.argv[1]) + float(sys.argv[2])); print()', "{act}", "{lr}"
    )
    assert command(lr=0.25, act="relu") == 4.25


def test_no_shell_sees_the_values(tmp_path: Path) -> None:
    command = program("import sys; print(sys.argv[1]); print(len(sys.argv[1]))", "{act}")
    nasty = f"$(touch {tmp_path / 'x'}); `ls` | cat > y"
    assert command(lr=1.0, act=nasty) == len(nasty)
    assert not (tmp_path / "x").exists()


def test_values_are_in_the_environment_and_in_a_json_file_too() -> None:
    code = (
        'import json, os; p = json.load(open(os.environ["AEGISBO_PARAMETERS"])); '
        'print(p["lr"] + float(os.environ["AEGISBO_lr"]) + len(os.environ["AEGISBO_act"]))'
    )
    assert program(code)(lr=0.5, act="tanh") == 5.0


def test_a_file_can_hold_the_value_and_every_evaluation_has_its_own_folder() -> None:
    code = 'import sys; open(sys.argv[1] + "/out", "w").write("noise\\n" + sys.argv[2] + "\\n"); print("not me")'
    command = program(code, "{folder}", "{lr}", value_file="{folder}/out")
    assert command(lr=0.5, act="") == 0.5
    with pytest.raises(ProgramFailed, match="left no file out"):
        program("pass", value_file="{folder}/out")(lr=1.0, act="")


def test_what_a_program_prints_is_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert program('import sys; sys.stderr.write("epoch 1\\n"); print("log"); print(2)')(lr=1.0, act="") == 2.0
    assert capsys.readouterr() == ("", "log\n2\nepoch 1\n")


def test_neither_stream_of_a_program_crowds_out_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    code = 'import sys; sys.stderr.write("e" * 9999 + "E"); print("o" * 9999 + "O"); print(2)'
    assert program(code)(lr=1.0, act="") == 2.0
    (printed,) = filter(None, capsys.readouterr())
    assert len(printed) == KEPT
    assert printed.index("O\n2\ne") > 2000
    assert printed.endswith("E")


@pytest.mark.parametrize("executor", ["serial", "threads", "processes"])
def test_what_a_program_prints_is_kept_with_its_own_trial(executor: str) -> None:
    code = 'import sys; print("at", sys.argv[1]); sys.exit("broken") if float(sys.argv[1]) > 0.6 else print(2)'
    result = minimize(
        program(code, "{lr}"),
        {"lr": (0.0, 1.0)},
        budget=2,
        workers=2,
        initial=[{"lr": 0.5}, {"lr": 0.75}],
        executor=executor,
        raise_errors=False,
        progress=False,
    )
    assert [trial.output for trial in result.trials] == ["at 0.5\n2\n", "at 0.75\nbroken\n"]


def test_what_a_program_printed_before_it_was_stopped_is_kept() -> None:
    result = minimize(
        program('import time; print("epoch 1", flush=True); time.sleep(60)'),
        {"lr": (0.0, 1.0)},
        budget=1,
        workers=1,
        trial_timeout=2.0,
        progress=False,
    )
    assert [(trial.state, trial.output) for trial in result.trials] == [("timed_out", "epoch 1\n")]


def test_a_program_that_fails_says_why() -> None:
    with pytest.raises(ProgramFailed, match=r"code 7: what went wrong"):
        program('import sys; print("what went wrong", file=sys.stderr); sys.exit(7)')(lr=1.0, act="")
    with pytest.raises(ProgramFailed, match=r"one number, but was 'not a number'"):
        program('print("not a number")')(lr=1.0, act="")
    with pytest.raises(ProgramFailed, match=r"one number, but was ''"):
        program("pass")(lr=1.0, act="")
    with pytest.raises(ProgramFailed, match=r"could not be started \('no-such-program-anywhere'"):
        Command("no-such-program-anywhere")(lr=1.0, act="")


def test_megabytes_of_output_do_no_harm() -> None:
    assert program('print("x" * 5_000_000); print(3)')(lr=1.0, act="") == 3.0


def test_the_folder_is_there_during_an_evaluation_and_gone_afterwards(tmp_path: Path) -> None:
    code = 'import os, sys; open(sys.argv[2], "w").write(sys.argv[1]); print(int(os.path.isdir(sys.argv[1])))'
    assert program(code, "{folder}", str(tmp_path / "where"))(lr=1.0, act="") == 1.0
    assert not Path((tmp_path / "where").read_text()).exists()


def test_on_windows_programs_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "os", SimpleNamespace(name="nt"))
    with pytest.raises(AegisError, match=r"^External programs need Linux or macOS, this is nt: use WSL\.$"):
        Command("./run {lr}")


@pytest.mark.parametrize(
    ("text", "value_file", "message"),
    [
        ("", None, "empty"),
        (["./run", "{lr}"], None, r"is text such as .*, got \['./run', '\{lr\}'\]"),
        ("./run 'open", None, "cannot be split"),
        ("./run", "result.txt", r"shared by evaluations that run at once: put it into \{folder\}"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused_when_it_is_made(
    text: str, value_file: str | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Command(text, value_file)


@pytest.mark.parametrize("command", [Command("./run {lrr}"), Command("./run", value_file="{folder}/{lrr}")])
def test_a_name_that_is_no_parameter_is_refused_before_anything_runs(command: Command, tmp_path: Path) -> None:
    space = {"lr": (0.0, 1.0), "act": Choice(["relu", "tanh"])}
    with pytest.raises(InvalidInput, match=r"\{lrr\} in the command is no parameter: use one of lr, act, folder"):
        minimize(command, space, budget=3, study=tmp_path / "run.db")
    with pytest.raises(InvalidInput, match="by name"):
        minimize(Command("./run {x}"), [(0, 1)], budget=3, study=tmp_path / "run.db")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("folder", "./run", "cannot be called 'folder', which is the folder of each evaluation: rename it"),
        ("PARAMETERS", "./run", "cannot be called 'PARAMETERS', which is the file in AEGISBO_PARAMETERS"),
        ("SLOT", "./run", "cannot be called 'SLOT', which is the number of the worker in AEGISBO_SLOT"),
        ("a=b", "./run", "cannot have a parameter called 'a=b': use letters, digits and _ in its name"),
        ("learning-rate", "./run {learning-rate}", "cannot have a parameter called 'learning-rate'"),
        ("lr", "./run {lr:.3f}", r"\{lr:.3f\} in the command is not filled in: write \{lr\}"),
        ("lr", "./run --lr={lr --fast", r"\{lr in the command is not filled in: write \{lr\}"),
    ],
)
def test_a_parameter_that_a_command_cannot_pass_on_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        minimize(Command(text), {name: (0.0, 1.0)}, budget=1)


def test_a_name_with_a_dash_is_found_in_the_file() -> None:
    code = 'import json, os; print(json.load(open(os.environ["AEGISBO_PARAMETERS"]))["learning-rate"])'
    command = program(code)
    check_command(command, Space({"learning-rate": (0, 1)}), here=True)
    assert command(**{"learning-rate": 0.25}) == 0.25


def test_a_program_is_minimized_like_a_function() -> None:
    result = minimize(
        program("import sys; print((float(sys.argv[1]) - 0.25) ** 2)", "{lr}"),
        {"lr": (0.0, 1.0)},
        budget=3,
        workers=1,
        initial=[{"lr": 0.25}, {"lr": 0.75}],
        executor="serial",
        seed=0,
    )
    assert [trial.value for trial in result.trials[:2]] == [0.0, 0.25]
    assert result.trials[2].value == (result.trials[2].x["lr"] - 0.25) ** 2


def test_braces_that_are_no_names_are_left_alone_and_a_command_can_be_pickled() -> None:
    command = pickle.loads(pickle.dumps(program('print(len({1, 2}) + len("{ }"))')))
    assert command(lr=1.0, act="") == 5.0
    assert json.dumps(command.arguments)


def test_arguments_of_what_is_not_there_are_left_out() -> None:
    code = (
        "import json, os, sys; print(len(sys.argv) - 1 + len(json.load(open(os.environ['AEGISBO_PARAMETERS']))) / 10)"
    )
    command = Command(f'{sys.executable} -c "{code}" -v --lr {{lr}} --beta={{beta}} units={{units}} {{units}}')
    assert command(lr=0.1, beta=0.2, units=3) == pytest.approx(6.3)
    assert command(beta=0.2, units=3) == pytest.approx(4.2)  # without --lr
    assert command(lr=0.1, units=3) == pytest.approx(5.2)
    assert command(lr=0.1, beta=0.2) == pytest.approx(4.2)  # --beta={beta} is no option of what comes after it


def test_a_program_and_its_value_file_have_their_names_always() -> None:
    space = {"a": Choice(["x", "y"]), "lr": Real(0, 1, when={"a": "x"})}
    for command in (Command("./{lr}"), Command("./run {lr}", value_file="{folder}/{lr}")):
        with pytest.raises(InvalidInput, match=r"\{lr\} does not always exist: name the program"):
            minimize(command, space, budget=3)


@pytest.mark.parametrize(("text", "unused"), [
    ("sim {lr} {units}", ["act"]), ("sim --lr={lr}", ["units", "act"]), ("sim {lr} {units} {act}", []),
    ("sim", []), ("sim {folder}", []), ("sh -c 'sim {lr} $AEGISBO_act'", []), ("sim {lr} {folder}", ["units", "act"]),
])  # fmt: skip
def test_what_a_command_never_uses_is_said(text: str, unused: list[str], logged: list[tuple[str, str]]) -> None:
    warn_if_unused(Command(text), ["lr", "units", "act"])
    said = "".join(text for _, text in logged)
    assert re.findall(r"\{(\w+)\}", said) == unused


def test_a_parameter_that_the_command_never_uses_is_said_once(logged: list[tuple[str, str]], tmp_path: Path) -> None:
    space = {"lr": (0.0, 1.0), "act": Choice(["relu", "tanh"])}
    command = program("import sys; print(sys.argv[1])", "{lr}")
    minimize(command, space, budget=2, seed=1, executor="serial", study=tmp_path / "run.db")
    work(command, tmp_path / "run.db", budget=3)
    warnings = [text for level, text in logged if level == "WARNING"]
    assert warnings == 2 * [
        "The command does not use {act}. This cannot affect the value unless the program reads AEGISBO_act "
        "or the file that AEGISBO_PARAMETERS names."
    ]


class TestFolders:
    @pytest.fixture(autouse=True)
    def temporary(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        monkeypatch.setenv("TMPDIR", str(tmp_path))
        return tmp_path

    def test_that_of_a_killed_process_goes_and_that_of_a_living_one_stays(self, temporary: Path) -> None:
        code = (
            "import sys, time\nfrom aegisbo.runners.own_folder import own_folder\n"
            "with own_folder() as folder:\n    print(folder, flush=True)\n    time.sleep(600)"
        )
        (temporary / "aegisbo-mine").mkdir()  # a user's, by chance
        new = temporary / "aegisbo-new"  # its owner is about to lock it
        new.mkdir()
        (new / own_folder_module.MARK).touch()
        owners = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
        try:
            dead, living = (Path(owner.stdout.readline().strip()) for owner in owners if owner.stdout)
            own_folder_module.tidy_up()
            assert {dead, living} <= set(temporary.iterdir())
            owners[0].kill()
            owners[0].wait()
            with own_folder_module.own_folder() as mine:
                assert set(temporary.iterdir()) == {living, Path(mine), new, temporary / "aegisbo-mine"}
        finally:
            for owner in owners:
                owner.kill()
                owner.communicate()

    @pytest.mark.long
    def test_programs_that_were_stopped_leave_none(self, temporary: Path) -> None:
        command = program("import sys, time; time.sleep(600 if float(sys.argv[1]) > 0.5 else 0); print(1)", "{lr}")
        initial = [{"lr": 0.9}, {"lr": 0.1}, {"lr": 0.8}]
        result = minimize(command, {"lr": (0.0, 1.0)}, budget=3, workers=1, trial_timeout=1.0, initial=initial)
        assert [trial.state for trial in result.trials] == ["timed_out", "done", "timed_out"]
        assert list(temporary.glob("aegisbo-*")) == []
