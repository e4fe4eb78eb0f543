"""Strategies and problems of other packages, offered by toy packages that are put on the path of a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

TOY = """
    from dataclasses import dataclass

    import numpy as np

    from aegisbo.simulation.problem import Family, Parameter, Problem
    from aegisbo.strategies import Suggestion


    @dataclass(frozen=True)
    class Corner:
        '''Always a corner of the cube.

        And more about it.
        '''

        at: float = 0.0
        preset: str = "paper"

        def suggest(self, evidence, memory, rng):
            x = evidence.cube.fill(np.full((1, evidence.cube.parameters), self.at))[0]
            return Suggestion(x, {}, {"move": f"corner of {self.preset}"})


    def middle():
        '''Made by a function.'''
        return Corner(at=0.5)


    def nothing():
        return 3


    SPHERE = Problem("sphere", lambda x: float(x @ x), ((-1.0, 2.0),) * 2, 0.0, np.zeros((1, 2)), "a toy")
    """

STRATEGIES = "[aegisbo.strategies]\n"
PROBLEMS = "[aegisbo.problems]\n"


# Starts a process for every script. They begin with what aegisbo needs of other packages, which takes a second to load,
# and without aegisbo.
NURSERY = """
import os, sys, traceback
import scipy.optimize, scipy.spatial, scipy.special

for line in sys.stdin:
    folder, code = eval(line)
    child = os.fork()
    if not child:
        sys.path.insert(0, folder)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(os.open(f"{folder}/{stream.name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream.fileno())
        status = 1
        try:
            exec(code, {"__name__": "__main__"})
            status = 0
        except SystemExit as leave:
            status = leave.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def nursery():
    with subprocess.Popen(
        [sys.executable, "-c", NURSERY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "200"},
    ) as process:
        yield process
        process.stdin.close()


@dataclass
class World:
    """A folder of packages, and fresh processes that find them."""

    folder: Path
    nursery: subprocess.Popen[str]

    def add(self, package: str, entry_points: str, code: str = TOY, distribution: str | None = None) -> None:
        """Install a package, which is distributed under its own name unless told otherwise."""
        (self.folder / f"{package}.py").write_text(dedent(code), encoding="utf-8")
        info = self.folder / f"{distribution or package}-0.1.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {distribution or package}\nVersion: 0.1\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")

    def run(self, code: str) -> str:
        """What a script prints, or the last line of its error."""
        print(repr((str(self.folder), dedent(code))), file=self.nursery.stdin, flush=True)
        failed = int(self.nursery.stdout.readline())
        said = (self.folder / ("<stderr>" if failed else "<stdout>")).read_text("utf-8")
        return said.strip().splitlines()[-1] if failed else said


@pytest.fixture
def world(tmp_path, nursery):
    return World(tmp_path, nursery)


# Strategies


def test_a_strategy_of_another_package_is_used_by_its_name(world):
    world.add("toy", STRATEGIES + "corner = toy:Corner\nmiddle = toy:middle\n")
    said = world.run(
        """
        from aegisbo import Optimizer
        from aegisbo.strategies.registry import recipe_of, resolve

        optimizer = Optimizer([(-5, 10), (2, 3)], strategy="corner:at=1", preset="modern", seed=0)
        while (trial := optimizer.ask()).note["move"] == "initial":
            optimizer.tell(trial, 1.0)
        print(trial.x, trial.note["move"])
        print(resolve("middle"))
        recipe = recipe_of(resolve("corner:at=0.25", "modern"))
        print(recipe, resolve(*recipe))
        """
    )
    assert said.splitlines() == [
        "[10.  3.] corner of modern",
        "Corner(at=0.5, preset='paper')",
        "Recipe(text='corner:at=0.25', preset='modern') Corner(at=0.25, preset='modern')",
    ]


def test_an_object_of_another_package_has_a_recipe_though_nobody_asked_for_its_name(world):
    world.add("toy", STRATEGIES + "corner = toy:Corner\nmiddle = toy:middle\n")
    said = world.run(
        """
        from toy import Corner
        from aegisbo.strategies.registry import recipe_of

        print(recipe_of(Corner(at=1.0)))
        """
    )
    assert said == "Recipe(text='corner:at=1.0', preset='paper')\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("corner:at=left", "'at=left' in strategy 'corner:at=left': at must be a number."),
        ("corner:place=1", "Unknown strategy parameter 'place': known: at."),
        ("middle:at=1", "Strategy 'middle' takes no parameters: leave out 'at=1'."),
        ("cornr", "Unknown strategy 'cornr': did you mean 'corner'?"),
        ("nothing", "'nothing' makes 3, which has no method suggest: tell the authors of its package."),
    ],
)
def test_mistakes_are_answered_as_for_our_own(world, text, message):
    world.add("toy", STRATEGIES + "corner = toy:Corner\nmiddle = toy:middle\nnothing = toy:nothing\n")
    said = world.run(f"from aegisbo.strategies.registry import resolve; resolve({text!r})")
    assert said.partition(": ")[2] == message


def test_our_own_names_go_first(world):
    world.add("toy", STRATEGIES + "aegis = toy:Corner\n")
    said = world.run(
        """
        from aegisbo.strategies.registry import names, resolve
        print(type(resolve("aegis")).__name__, names().count("aegis"))
        """
    )
    assert said == "Aegis 1\n"


def test_nothing_is_loaded_before_it_is_asked_for(world):
    world.add("toy", STRATEGIES + "corner = toy:Corner\n")
    world.add("other", STRATEGIES + "elsewhere = other:Corner\n")
    said = world.run(
        """
        import sys
        from aegisbo.strategies.registry import names, recipe_of, resolve

        def loaded():
            return [name for name in ("toy", "other") if name in sys.modules]

        recipe_of(resolve("aegis"))
        print(loaded(), names()[-2:], loaded())
        resolve("corner")
        print(loaded())
        """
    )
    assert said == "[] ('corner', 'elsewhere') []\n['toy']\n"


def test_they_are_listed_and_a_broken_one_hides_no_other(world):
    world.add("toy", STRATEGIES + "corner = toy:Corner\n")
    world.add("broken", STRATEGIES + "ruin = broken:Ruin\n", code="raise OSError('[disk] is gone')")
    said = world.run(
        """
        import sys
        from aegisbo.cli import main
        sys.argv = ["aegisbo", "strategies"]
        main()
        """
    )
    table = {line.split()[0]: " ".join(line.split()[1:]) for line in said.splitlines() if line.strip()}
    assert table["corner"] == "Always a corner of the cube at"
    assert "cannot be loaded (OSError: [disk] is gone)" in " ".join(said.split())
    assert table["playbook"].startswith("expected improvement")


# What can be wrong with a package, in both groups

USE = {
    "aegisbo.strategies": "from aegisbo.strategies.registry import resolve; resolve('thing')",
    "aegisbo.problems": "from aegisbo.simulation.problems import get; get('thing')",
}
each_group = pytest.mark.parametrize("group", USE)


@each_group
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("this is no Python", "SyntaxError: "),
        ("x = 1", "AttributeError: module 'toy' has no attribute 'thing'"),
    ],
)
def test_a_broken_package_is_named_in_one_sentence(world, group, code, reason):
    world.add("toy", f"[{group}]\nthing = toy:thing\n", code=code)
    said = world.run(USE[group])
    assert "AegisError: 'thing' of package toy cannot be loaded (" + reason in said
    assert said.endswith("repair or uninstall that package.")


@pytest.mark.parametrize(
    ("group", "wanted"),
    [("aegisbo.strategies", "class or function"), ("aegisbo.problems", "Problem or Family")],
)
def test_something_of_the_wrong_kind_is_refused(world, group, wanted):
    world.add("toy", f"[{group}]\nthing = toy:thing\n", code="thing = 'a text'")
    said = world.run(USE[group])
    assert said.endswith(f"'thing' of package toy is 'a text', not a {wanted}: tell its authors, or uninstall it.")


@each_group
def test_two_packages_with_one_name_are_both_named(world, group):
    world.add("toy", f"[{group}]\nthing = toy:Corner\n")
    world.add("other", f"[{group}]\nthing = other:Corner\n")
    assert world.run(USE[group]).endswith(
        f"Several packages offer 'thing' in {group}: other (other:Corner) and toy (toy:Corner). Uninstall all but one."
    )


@each_group
def test_a_quarrel_about_one_name_does_not_concern_the_others(world, group):
    world.add("toy", f"[{group}]\nthing = toy:Corner\nmiddle = toy:middle\nsphere = toy:SPHERE\n")
    world.add("other", f"[{group}]\nthing = other:Corner\n")
    fine = "middle" if group == "aegisbo.strategies" else "sphere"
    assert world.run(USE[group].replace("thing", fine) + "; print('fine')") == "fine\n"


@each_group
def test_a_package_that_is_installed_under_two_names_counts_once(world, group):
    entry = "thing = toy:Corner\n" if group == "aegisbo.strategies" else "thing = toy:SPHERE\n"
    world.add("toy", f"[{group}]\n{entry}")
    world.add("toy", f"[{group}]\n{entry}", distribution="toy_nightly")
    assert world.run(USE[group] + "; print('fine')") == "fine\n"


# Problems


def test_a_problem_of_another_package_is_used_by_its_name(world):
    world.add("toy", PROBLEMS + "sphere = toy:SPHERE\n")
    said = world.run(
        """
        from aegisbo.simulation import problems
        print(problems.get("sphere")([1.0, 2.0]), problems.dimension("sphere"), "sphere" in problems.names())
        """
    )
    assert said == "5.0 2 True\n"


def test_an_entry_point_that_cannot_be_read_does_not_concern_objects(world):
    world.add("toy", STRATEGIES + "bad = not valid!!\n")
    assert world.run("from aegisbo.strategies.registry import *; from aegisbo.strategies import Aegis; "
                     "print(recipe_of(Aegis()).text)") == "aegis\n"  # fmt: skip


def test_an_object_whose_name_is_disputed_has_no_text(world):
    world.add("toy", STRATEGIES + "corner = toy:Corner\n")
    world.add("other", STRATEGIES + "corner = other:Corner\n")
    assert world.run("from aegisbo.strategies.registry import *; from toy import Corner; "
                     "print(recipe_of(Corner()))") == "None\n"  # fmt: skip


def test_problems_are_listed_by_their_entry_points_and_a_broken_one_hides_no_other(world):
    world.add("toy", PROBLEMS + "Branin = toy:SPHERE\nball = toy:SPHERE\nlost = toy:nowhere\n")
    said = world.run("from aegisbo.simulation.problems import *; from aegisbo.simulation.problems import broken; "
                     "print(names().count('Branin'), 'ball' in names(), get('ball').name, *broken())")  # fmt: skip
    assert said == "1 True ball lost\n"


def test_a_factory_that_fails_is_answered_in_one_sentence(world):
    world.add("toy", STRATEGIES + "gpu = toy:gpu\n", code="def gpu():\n    raise RuntimeError('no GPU here')\n")
    said = world.run("from aegisbo.strategies.registry import resolve; resolve('gpu')")
    assert said.endswith("Strategy 'gpu' cannot be made: RuntimeError: no GPU here")
