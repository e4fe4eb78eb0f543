"""The sentences of `stop_when=`: what they mean, what is kept of them, and what is said of others."""

from __future__ import annotations

import pytest

from aegisbo.errors import InvalidInput
from aegisbo.options import OPTIONS
from aegisbo.stop_when import Better, StopWhen, better_of, stop_when_of


@pytest.mark.parametrize(
    ("text", "meaning", "kept"),
    [
        (
            "chance of 1% better in the next 50 < 0.05",
            StopWhen(Better(1.0, percent=True), 50, 0.05),
            "chance of 1% better in the next 50 < 0.05",
        ),
        (
            " Chance of 0.002 better  in next 8<5 %",
            StopWhen(Better(0.002, percent=False), 8, 0.05),
            "chance of 0.002 better in the next 8 < 0.05",
        ),
        ("no 1% better in 30", StopWhen(Better(1.0, percent=True), 30, None), "no 1% better in 30"),
        (
            "no 1e-3 better in the last 7",
            StopWhen(Better(0.001, percent=False), 7, None),
            "no 0.001 better in 7",
        ),
    ],
)
def test_a_sentence_has_a_meaning(text: str, meaning: StopWhen, kept: str) -> None:
    assert stop_when_of(text) == meaning
    assert OPTIONS["stop_when"].check("stop_when", text) == kept
    assert stop_when_of(kept) == meaning


@pytest.mark.parametrize(
    "text",
    [
        "no 2000000 better in 30",
        "no 1234567.5 better in 30",
        "no 1E16 better in 3",
        "no 12.3456789% better in 4",
        "no 1e-7 better in 3",
        "chance of 1e6 better in the next 5 < 0.9999999",
        "chance of 1% better in the next 5 < 1e-9",
    ],
)
def test_what_is_kept_means_the_same(text: str) -> None:
    assert stop_when_of(OPTIONS["stop_when"].check("stop_when", text)) == stop_when_of(text)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("enough", "stop_when is 'enough': write a sentence such as \"chance of 1% better in the next 50 < 0.05\""),
        (30, "stop_when is 30: write a sentence"),
        ("no 1% better in 0", "give a whole number of evaluations, from 1 to 100,000"),
        ("no 1% better in 99999999999", "give a whole number of evaluations"),
        ("chance of 1% better in the next 50 < 5", "5 is no chance that ends a run; give one between 0 and 1"),
        ("chance of 1% better in the next 50 < 0", "0 is no chance that ends a run"),
        ("no -1% better in 30", "write a sentence"),
        ("chance of 1% better in the next 50 > 0.05", "write a sentence"),
    ],
)
def test_other_sentences_are_refused_with_an_example(value: object, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        OPTIONS["stop_when"].check("stop_when", value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("value", "better"),
    [("1%", Better(1.0, percent=True)), ("0.5", Better(0.5, percent=False)), (2, Better(2.0, False))],
)
def test_an_amount_is_a_share_or_a_number(value: object, better: Better) -> None:
    assert better_of(value) == better


@pytest.mark.parametrize("value", ["much", -1.0, float("nan"), float("inf"), None, True])
def test_other_amounts_are_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match='give a share of what the run has gained, such as "1%"'):
        better_of(value)
