"""`aegisbo mcp`: a seat at a study for a language model, or for any other client of the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from aegisbo.cli.arguments import Study, real
from aegisbo.errors import MissingExtra

EXAMPLES = """Examples, as the command of a server in the configuration of a client:

- `aegisbo mcp run.db`
- `aegisbo mcp run.db --may add,retry,budget=100-400 --share 0.2`
"""


def mcp(
    study: Study,
    may: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RIGHTS",
            help="What the adviser may do besides looking: `add`, `retry`, `forget`, and options with the range in "
            "which it may set them, such as `budget=100-400`; separated by commas.",
        ),
    ] = None,
    share: Annotated[
        float,
        typer.Option(parser=real(0), metavar="PART", help="The part of all evaluations that advisers may use up."),
    ] = 0.2,
    author: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The author of its changes; what the client calls itself unless given."),
    ] = None,
) -> None:
    """Let a language model look at a study and advise, over standard input and output (MCP).

    It can look at everything in the study, and change only what `--may` names. It can run no code and read no other
    file.
    """
    from aegisbo.integrations.mcp_rights import Rights
    from aegisbo.integrations.mcp_tools import Desk
    from aegisbo.optimizer.told import checked_author
    from aegisbo.study.seat import Seat

    rights = Rights.of(word for words in may or [] for word in words.split(","))
    name = checked_author(author)
    desk = Desk(study, rights, Seat(name or "anybody", share).share)
    try:
        from aegisbo.integrations.mcp_server import serve
    except ModuleNotFoundError as error:
        if error.name != "mcp":
            raise
        raise MissingExtra("aegisbo mcp", "mcp") from error
    serve(desk, name)
