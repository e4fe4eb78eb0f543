"""Progress in a notebook: a line of the cell's output that is replaced every second. It needs only IPython."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from uuid import uuid4

from aegisbo.optimizer.failure_reasons import cut
from aegisbo.runners.progress.standing import Standing, line

WIDTH = 100  # most characters of the last error


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, not IPython in a terminal."""
    if "IPython.display" not in sys.modules:  # a kernel has imported it
        return False
    return getattr(sys.modules["IPython"].get_ipython(), "kernel", None) is not None


@contextmanager
def notebook_line(look: Callable[[], Standing], pause: float = 1.0) -> Iterator[None]:
    """Show what `look` returns, every `pause` seconds, until the context ends."""
    display, name, done = sys.modules["IPython.display"].display, uuid4().hex, Event()

    def draw(update: bool = True) -> None:
        display({"text/plain": _text(look())}, raw=True, display_id=name, update=update)

    def redraw() -> None:
        while not done.wait(pause):
            draw()

    draw(update=False)
    thread = Thread(target=redraw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        draw()


def _text(standing: Standing) -> str:
    return f"{line(standing)}\nlast error: {cut(standing.error, WIDTH)}" if standing.error else line(standing)
