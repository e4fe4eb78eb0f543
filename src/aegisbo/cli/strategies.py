"""`aegisbo strategies`: what can be named as a strategy."""

from __future__ import annotations

from rich.console import Console

PARAMETERS = """
Parameters follow the name, as in aegis:gamma=0.2,epsilon=faster
  epsilon   share of exploratory moves: sqrt, half, faster, slower or a number from 0 to 1
  gamma     share of Thompson sampling among them: a number from 0 to 1
  guard     whether points that are taken may not be chosen again: on or off
  n         points of one Latin hypercube: a whole number
"""


def strategies() -> None:
    """List the strategies and their parameters."""
    from aegisbo.cli.tables import plain_table
    from aegisbo.strategies.registry import STRATEGIES

    table = plain_table(["name", "what it does", "parameters"])
    for name, entry in STRATEGIES.items():
        parameters = [*entry.parameters, *(["guard"] if entry.uses_preset else [])]
        table.add_row(name, entry.summary, ", ".join(parameters))
    Console(highlight=False).print(table, PARAMETERS, sep="\n")
