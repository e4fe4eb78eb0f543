"""What evaluations in this process print: the streams are as they were when the last one has ended."""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack, redirect_stdout

from aegisbo.runners.output import KEPT, kept, listening


def test_streams_are_put_back_although_somebody_redirected_them_meanwhile() -> None:
    before = sys.stdout
    first, second = ExitStack(), ExitStack()
    first.enter_context(listening())
    with redirect_stdout(io.StringIO()) as elsewhere:
        words = second.enter_context(listening())  # another evaluation starts while this one looks away
        print("away")  # noqa: T201
    print("here")  # noqa: T201
    second.close()
    first.close()
    assert sys.stdout is before
    assert elsewhere.getvalue() == "away\n"
    assert words.text == "away\nhere\n"


def test_a_text_that_is_cut_begins_with_a_mark_and_a_whole_line() -> None:
    lines = [f"line {number}\n" for number in range(2000)]
    end = kept("".join(lines))
    assert end.startswith("[...]\nline ")
    assert end.removeprefix("[...]\n") == "".join(lines)[-len(end) + len("[...]\n") :]
    assert KEPT - len("line 1999\n") <= len(end) - len("[...]\n") <= KEPT
    assert kept("x" * KEPT) == "x" * KEPT
