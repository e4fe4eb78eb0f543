"""NAME=VALUE, as several commands take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aegisbo.errors import InvalidInput

if TYPE_CHECKING:
    from aegisbo.study import Earlier


def assigned(entries: list[str] | None, option: str) -> dict[str, str]:
    """Texts by name.

    Args:
        entries: NAME=VALUE each.
        option: what they were given for.

    Raises:
        InvalidInput: an entry is something else, or a name comes twice.
    """
    texts: dict[str, str] = {}
    for entry in entries or []:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise InvalidInput(f"{option} {entry!r} sets nothing: write NAME=VALUE.")
        if name in texts:
            raise InvalidInput(f"{option} {name!r} is given twice: leave one out.")
        texts[name] = value
    return texts


def earlier(sources: list[str] | None, given: list[str] | None, value: str) -> list[Earlier] | None:
    """The earlier results that options name; None if they name none."""
    from aegisbo.study import Earlier

    texts = assigned(given, "--given")
    if not sources and (texts or value != "value"):
        raise InvalidInput("--given and --value-column go with --from: name the file that they are about.")
    return [Earlier(source, texts, value) for source in sources or []] or None
