"""`aegisbo strategies`: what can be named as a strategy."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from aegisbo.errors import AegisError

PARAMETERS = """
Parameters follow the name, as in aegis:gamma=0.2,epsilon=faster
  epsilon   share of exploratory moves: sqrt, half, faster, slower, or 0 to 1
  gamma     share of Thompson sampling among them: a number from 0 to 1
  explore   what the other exploratory moves pick from: pareto or uniform
  exploits  whether there are exploiting moves: on or off
  guard     whether points that are taken may not be chosen again: on or off
  n         points of one Latin hypercube: a whole number
"""


def strategies() -> None:
    """List the strategies and their parameters."""
    from aegisbo.cli.tables import plain_table
    from aegisbo.strategies.registry import names

    table = plain_table(["name", "what it does", "parameters"])
    for name in names():
        table.add_row(name, *_described(name))
    Console(highlight=False).print(table, PARAMETERS, sep="\n")


def _described(name: str) -> tuple[str, str]:
    """What a strategy does, and its parameters; a package that fails to load does not hide the others."""
    from aegisbo.strategies.registry import entry_named

    try:
        entry = entry_named(name)
        parameters = sorted(entry.parameters, key="guard".__eq__)  # what all share comes last
        return escape(entry.summary), ", ".join(parameters)
    except AegisError as error:
        return escape(str(error)), ""
