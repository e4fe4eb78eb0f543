"""What an optimizer and a trial look like where somebody prints them."""

from __future__ import annotations

from aegisbo import Optimizer
from aegisbo.space import Choice, Int


def test_an_optimizer_and_its_trials_say_what_matters_in_few_words():
    optimizer = Optimizer(
        {"k": Int(1, 9), "act": Choice(["u", "v"])},
        strategy="random",
        seed=7,
        initial=[{"k": 2, "act": "u"}, {"k": 3, "act": "v"}, {"k": 4, "act": "v"}],
    )
    assert repr(optimizer).splitlines() == [
        "   space: k=Int(1, 9), act=Choice(['u', 'v'])",
        "strategy: random, adaptive",
        "    seed: 7",
        "  trials: none yet",
        "    best: None",
    ]
    optimizer.observe({"k": 1, "act": "u"}, 5.0)
    for _ in range(3):
        optimizer.ask()
    assert repr(optimizer.tell(1, 1 / 3)) == "<Trial 1 done: 0.333333, move initial, k=3, act='v'>"
    assert repr(optimizer.fail(2, "log\n" * 99)).startswith("<Trial 2 failed: log log log")
    assert len(repr(optimizer.trials[2]).splitlines()) == 1
    assert repr(optimizer.trials[0]) == "<Trial 0 pending: move initial, k=2, act='u'>"
    assert repr(optimizer).splitlines()[3:] == [
        "  trials: 1 pending, 1 done, 1 failed, and 1 observed elsewhere",
        "    best: <Trial 1 done: 0.333333, move initial, k=3, act='v'>",
    ]


def test_many_parameters_are_cut_short():
    trial = Optimizer([(0, 1)] * 20, seed=0).ask()
    assert "x5=" in repr(trial)
    assert repr(trial).endswith(", ...>")
