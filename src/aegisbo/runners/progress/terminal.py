"""Progress on a terminal: a live line below whatever is printed meanwhile."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from aegisbo.optimizer.failure_reasons import cut
from aegisbo.runners.progress.standing import Standing, line

BAR = range(10, 25)  # how wide the bar may be


@contextmanager
def terminal_line(look: Callable[[], Standing]) -> Iterator[None]:
    """Show what `look` returns, four times a second, until the context ends."""
    # If standard output is redirected, printed text must follow it.
    with (
        Live(
            get_renderable=lambda: Lines(look()),
            console=Console(stderr=True),
            redirect_stdout=sys.stdout.isatty(),
            vertical_overflow="visible",
        ),
        _handlers_follow_stderr(),
    ):
        yield


class Lines:
    """A run in one line, and the last error in another."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        standing, width = self._standing, options.max_width
        text = Text(line(standing, width), no_wrap=True, overflow="ellipsis")
        text.highlight_regex(r"\d+ failed", "red")
        text.highlight_regex(r"best \S+", "bold")
        spare = width - len(text) - 1
        yield text if spare < BAR.start else _with_bar(text, standing, min(spare, BAR.stop - 1))
        if standing.error:
            yield Text(cut(f"last error: {standing.error}", width), style="red", no_wrap=True)


def _with_bar(text: Text, standing: Standing, width: int) -> Table:
    row = Table.grid(padding=(0, 1))
    row.add_row(ProgressBar(total=standing.budget, completed=standing.ended, width=width), text)
    return row


@contextmanager
def _handlers_follow_stderr() -> Iterator[None]:
    """Let log handlers that keep the terminal's stream print above the line too, as `print` does."""
    proxies = [proxy for proxy in (sys.stdout, sys.stderr) if hasattr(proxy, "rich_proxied_file")]
    streams = {proxy.rich_proxied_file: proxy for proxy in proxies}
    handlers = [*logging.getLogger("aegisbo").handlers, *logging.getLogger().handlers]
    moved = [each for each in handlers if isinstance(each, logging.StreamHandler) and each.stream in streams]
    before = [handler.stream for handler in moved]
    for handler in moved:
        handler.setStream(streams[handler.stream])
    try:
        yield
    finally:
        for handler, stream in zip(moved, before, strict=True):
            handler.setStream(stream)
