"""What an evaluation prints: its trial keeps the end of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from threading import Lock
from typing import Any

from aegisbo.outcome import Outcome

KEPT = 4096  # characters
CUT = "[...]\n"


class Tail:
    """The end of a text that comes in pieces."""

    text = ""

    def add(self, piece: str) -> None:
        self.text = kept(self.text + piece)


def kept(text: str) -> str:
    """The end of a text, in whole lines if they are not too long, with a mark if it was cut."""
    if len(text) <= KEPT:
        return text
    end = text[-KEPT:]
    _, newline, lines = end.partition("\n")
    return CUT + (lines if newline and lines else end)


_listening: ContextVar[Tail | None] = ContextVar("_listening", default=None)  # where this thread's output goes


class _Tee:
    """A stream that passes on what is written, and keeps the end of what evaluations write."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> Any:
        tail = _listening.get()
        if tail is not None:
            tail.add(text)
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


_changing = Lock()  # guards the standard streams, which have a tee while an evaluation runs in this process
_tails: list[Tail] = []  # of these evaluations


@contextmanager
def listening() -> Iterator[Tail]:
    """Keep what this thread prints in Python; the output of other threads and C libraries passes by."""
    tail = Tail()
    with _changing:
        _tails.append(tail)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None and not isinstance(stream, _Tee):  # the user may have replaced it
                setattr(sys, name, _Tee(stream))
    token = _listening.set(tail)
    try:
        yield tail
    finally:
        _listening.reset(token)
        with _changing:
            _tails.remove(tail)
            for name in () if _tails else ("stdout", "stderr"):
                stream = getattr(sys, name)
                if isinstance(stream, _Tee):  # else the user has replaced it
                    setattr(sys, name, stream._stream)


def with_output(evaluation: Callable[[Any], Outcome], x: Any) -> Outcome:
    """The outcome of an evaluation, with what it printed."""
    with listening() as tail:
        outcome = evaluation(x)
    return replace(outcome, output=tail.text)
