"""Plans: which runs an experiment consists of, read from TOML. Those of the paper come with the package.

A plan is a list of blocks, and a block all combinations of its problems, methods and numbers of workers. Plans overlap:
a run that two of them ask for is one and the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from aegis_paper.runs import Cell, Spec
from aegisbo.errors import InvalidInput, UnknownName
from aegisbo.simulation.problems import families
from aegisbo.simulation.synthetic import SYNTHETIC

SHIPPED = files("aegis_paper") / "plans"
WORDS = {
    "str": "a text",
    "int": "a whole number from 0 upwards",
    "tuple[str, ...]": "a list of texts",
    "tuple[int, ...]": "a list of whole numbers",
}
EVERY_FUNCTION = "synthetic"  # stands for the fifteen functions


@dataclass(frozen=True, kw_only=True)
class Block:
    """All combinations of some problems, methods and numbers of workers."""

    problems: tuple[str, ...]  # one by one
    methods: tuple[str, ...]  # strategies, with their parameters
    workers: tuple[int, ...]
    preset: str = "paper"
    runs: int = 51  # of each combination
    budget: int = 200
    law: str = "half-normal"
    seed: int = 0

    def cells(self) -> Iterator[Cell]:
        """The combinations."""
        for workers in self.workers:
            for problem in self.problems:
                for method in self.methods:
                    yield Cell(problem, method, self.preset, workers, self.budget, self.law, self.seed)


@dataclass(frozen=True)
class Plan:
    """An experiment: what it is for, and its runs."""

    name: str
    purpose: str
    makes: tuple[str, ...]  # tables and figures of the paper
    blocks: tuple[Block, ...]

    def cells(self) -> dict[Cell, int]:
        """Every cell once, with the number of its runs."""
        runs: dict[Cell, int] = {}
        for block in self.blocks:
            for cell in block.cells():
                runs[cell] = max(block.runs, runs.get(cell, 0))
        return runs

    @property
    def presets(self) -> tuple[str, ...]:
        """The presets of its cells, in order."""
        return tuple(dict.fromkeys(cell.preset for cell in self.cells()))

    def one_setting(self) -> Cell:
        """A cell whose budget, law and seed all others have as well: only such runs can be put side by side."""
        cells = [*self.cells()]
        for name in ("budget", "law", "seed"):
            found = dict.fromkeys(str(getattr(cell, name)) for cell in cells)
            if len(found) > 1:
                raise InvalidInput(
                    f"Plan {self.name} has several values of {name} ({', '.join(found)}): runs can be put side by side "
                    "only if it is the same. Write a plan for each; finished runs count for every plan that names them."
                )
        return cells[0]

    def specs(self) -> Iterator[Spec]:
        """Run 0 of every cell, then run 1, and so on: whoever stops early has about equally many of each."""
        cells = self.cells()
        for run in range(max(cells.values())):
            yield from (cell.spec(run) for cell, runs in cells.items() if run < runs)

    def only(self, choices: Mapping[str, Iterable[Any]]) -> Plan:
        """Only these `problems`, `methods` and numbers of `workers`; where none are given, all."""
        blocks = self.blocks
        for kind, chosen in choices.items():
            wanted = expanded(chosen) if kind == "problems" else tuple(chosen)
            known = {each for block in self.blocks for each in getattr(block, kind)}
            for each in wanted:
                if each not in known:
                    raise UnknownName(f"choice among the {kind} of plan {self.name}", str(each), map(str, known))
            if wanted:
                blocks = tuple(_only(block, kind, wanted) for block in blocks)
        narrowed = replace(self, blocks=blocks)
        if not narrowed.cells():
            raise InvalidInput(f"Plan {self.name} has no runs with all of these choices at once: choose fewer.")
        return narrowed

    def with_all(self, **settings: Any) -> Plan:
        """The same plan with, say, preset="reference" or runs=11 in every block."""
        return replace(self, blocks=tuple(replace(block, **settings) for block in self.blocks))


def plan_names() -> list[str]:
    """The plans that come with the package."""
    return sorted(file.name.removesuffix(".toml") for file in SHIPPED.iterdir() if file.name.endswith(".toml"))


def load_plan(name: str) -> Plan:
    """The plan of this name, or the one in this .toml file."""
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"Plan {name} cannot be read: {error.strerror}.") from error
        return parse_plan(Path(name).stem, text)
    if name not in plan_names():
        raise UnknownName("plan", name, plan_names())
    return parse_plan(name, (SHIPPED / f"{name}.toml").read_text(encoding="utf-8"))


def parse_plan(name: str, text: str) -> Plan:
    """The plan that a text in TOML describes."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"Plan {name} is no TOML: {error}.") from error
    for key in table:
        if key not in ("purpose", "makes", "block"):
            raise UnknownName(f"key of plan {name}", key, ("purpose", "makes", "block"))
    blocks = table.get("block")
    if not blocks or not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise InvalidInput(f"Plan {name} has no runs: add a [[block]] with problems, methods and workers.")
    return Plan(
        name,
        str(table.get("purpose", "")),
        tuple(map(str, table.get("makes", ()))),
        tuple(_block(name, block) for block in blocks),
    )


def expanded(problems: Iterable[str]) -> tuple[str, ...]:
    """Problems one by one: `synthetic` are fifteen functions, push4 all its instances, push4#1-11 eleven of them."""
    counts = {family.name: family.count for family in families()}
    listed: list[str] = []
    for text in problems:
        span = re.fullmatch(r"(.+)#(\d+)-(\d+)", text)
        if text == EVERY_FUNCTION:
            listed += (problem.name for problem in SYNTHETIC)
        elif text in counts:
            listed += (f"{text}#{number}" for number in range(1, counts[text] + 1))
        elif span and int(span[2]) <= int(span[3]):
            listed += (f"{span[1]}#{number}" for number in range(int(span[2]), int(span[3]) + 1))
        else:
            listed.append(text)
    return tuple(dict.fromkeys(listed))


def _only(block: Block, kind: str, wanted: tuple[Any, ...]) -> Block:
    kept: dict[str, Any] = {kind: tuple(each for each in getattr(block, kind) if each in wanted)}
    return replace(block, **kept)


def _block(plan: str, table: Mapping[str, Any]) -> Block:
    kinds = {field.name: str(field.type) for field in fields(Block)}
    for key, value in table.items():
        if key not in kinds:
            raise UnknownName(f"key in a block of plan {plan}", key, kinds)
        if not _fits(value, kinds[key]):
            raise InvalidInput(f"{key} = {value!r} in plan {plan}: give {WORDS[kinds[key]]}.")
    missing = [key for key in ("problems", "methods", "workers") if not table.get(key)]
    if missing:
        raise InvalidInput(f"A block of plan {plan} lacks {', '.join(missing)}: name at least one.")
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    return Block(**{**table, **lists, "problems": expanded(table["problems"])})


def _fits(value: Any, kind: str) -> bool:
    match = re.fullmatch(r"tuple\[(\w+), \.\.\.\]", kind)
    if match:
        return isinstance(value, list) and all(_fits(each, match[1]) for each in value)
    return type(value) is str if kind == "str" else type(value) is int and value >= 0
