"""Uneven teams in simulated runs: paces and losses are those of the run, and other sizes draw from them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import default_rng
from review.test_team import losses

from aegisbo import Optimizer
from aegisbo.advice import advise
from aegisbo.advice.stand_in import Drawn
from aegisbo.advice.teams import Team, members_of, team_of_size
from aegisbo.cli.advise import _remarks
from aegisbo.options import Options
from aegisbo.review.record import Record, record_of
from aegisbo.runners.loop import run
from aegisbo.simulation.clock import Member, VirtualWorkers
from aegisbo.simulation.laws import half_normal, pareto
from aegisbo.study import Study

SPACE = {"x": (-5.0, 10.0), "y": (2.0, 3.0)}
MEMBERS = (Member(), Member(), Member(pace=4.0))


def ran(members=MEMBERS, budget: int = 60, law=pareto) -> Optimizer:
    """A run of this team, on a bowl."""
    optimizer = Optimizer(SPACE, strategy="random", seed=0)
    workers = VirtualWorkers(lambda p: (p["x"] - 3) ** 2 + p["y"], len(members), law, 0, members=members)
    run(Study(optimizer), workers, budget, options=Options(retries=99))
    return optimizer


def test_members_have_the_paces_of_the_run() -> None:
    members = members_of(record_of(ran()), 4)
    assert [each.pace for each in members] == pytest.approx([1.0, 1.0, 4.0, 1.0], rel=0.15)
    assert all(math.isinf(each.stays) for each in members)


def test_equal_workers_are_simulated_as_ever() -> None:
    assert members_of(record_of(ran((Member(),) * 3, law=half_normal)), 3) == (Member(),) * 3


def test_members_are_lost_as_often_as_they_were() -> None:
    """Nine losses in 36 + 4.5 seconds of four workers, all with worker 1: one in 4.5 seconds on average."""
    members = members_of(losses(1).record(), 4)
    assert [each.stays for each in members] == pytest.approx([13.5, 1.8, 13.5, 13.5])
    never: Record = losses(9).record()
    assert all(math.isinf(each.stays) for each in members_of(never, 4))


def test_a_team_of_another_size_is_drawn_from_the_members() -> None:
    assert team_of_size(MEMBERS, 3, default_rng(0)) == MEMBERS
    smaller = [team_of_size(MEMBERS, 2, default_rng(k)) for k in range(30)]
    assert {tuple(each.pace for each in team) for team in smaller} == {(1.0, 1.0), (1.0, 4.0)}
    larger = [team_of_size(MEMBERS, 6, default_rng(k)) for k in range(60)]
    assert all(team[:3] == MEMBERS for team in larger)
    assert np.mean([each.pace for team in larger for each in team[3:]]) == pytest.approx(2.0, abs=0.4)


def test_the_team_takes_as_long_as_its_members() -> None:
    class Second:
        def evaluate(self, x, rng):
            return Drawn(1.0, 0.0, 0.0)

    team = Team(Second(), 3, batches=False, suggestion=0.0, seed=0, members=MEMBERS)
    study = Study(Optimizer(SPACE, strategy="random", seed=0))
    done = run(study, team, 9).finished
    assert {(job.outcome.worker, job.seconds) for job in done} == {(0, 1.0), (1, 1.0), (2, 4.0)}


def test_advice_tells_which_workers_are_slow() -> None:
    found = advise(ran(), [2], runs=1)
    assert [each.pace for each in found.members] == pytest.approx([1.0, 1.0, 4.0], rel=0.15)
    assert any("those of simulated runs: × 1" in line for line in _remarks(found))
    plain = advise(ran((Member(),) * 3, law=half_normal), [], runs=1)
    assert plain.members == (Member(),) * 3
    assert not any("typical" in line or "lost" in line for line in _remarks(plain))
