"""Which workers differ: slow ones, those that are lost, and those on which evaluations fail."""

from __future__ import annotations

import pytest
from review.made_studies import Script
from scipy.stats import binom, hypergeom

from aegisbo.review.health import Finding, on_team
from aegisbo.review.record import Record
from aegisbo.review.team import Colleague, by_draw, by_share, team_of


def found(script: Script) -> list[Finding]:
    return list(on_team(script.record(), {}))


def even(script: Script, count: int = 40, slow: float = 1.0, fails: int = -1) -> Script:
    """Four workers in turn; on the last one evaluations take `slow` seconds instead of one."""
    script.opened(0.0)
    for number in range(count):
        worker, x = number % 4, (number * 0.37) % 1.0
        seconds = (slow if worker == 3 else 1.0) * (1.0 + 0.1 * ((7 * number) % 5))
        script.asked(number, 10.0 * number, x=x)
        end = script.failed if worker == fails else script.told
        end(number, 10.0 * number, 10.0 * number + seconds, worker)
    return script


def test_equal_workers_are_no_news() -> None:
    script = even(Script())
    assert found(script) == []
    assert [each.pace for each in team_of(script.record())] == [1.0] * 4


def test_a_slow_worker_is_told_with_its_pace() -> None:
    (finding,) = found(even(Script(), slow=4.0))
    assert (finding.topic, finding.level) == ("uneven workers", "note")
    assert finding.text == "Evaluations take 4 times as long on worker 3 as the same points on a typical worker."


def test_a_worker_on_which_evaluations_fail() -> None:
    (finding,) = found(even(Script(), fails=2))
    assert finding.level == "warning"
    assert finding.text == "10 of 10 evaluations on worker 2 failed, and 0 of 30 on the others."


def losses(at: int) -> Script:
    """Each fourth evaluation, that of worker `at`, is lost with worker 1 before it ends."""
    script = Script()
    script.opened(0.0)
    for number in range(36):
        begin, worker = 10.0 * number, number % 4
        script.asked(number, begin, x=number / 36)
        if worker == at:
            script.failed(number, begin, begin + 0.5, 1, state="lost")
        script.told(number, begin + 2.0, begin + 3.0, worker)
    return script


def test_a_worker_that_is_lost_too_often() -> None:
    (finding,) = found(losses(1))
    assert finding.text == "9 of 9 lost evaluations were lost with worker 1."
    one = team_of(losses(1).record())[1]
    assert one == Colleague(1, ended=9, failed=0, lost=9, busy=pytest.approx(13.5), pace=1.0)


def test_a_copy_that_died_counts_for_its_first_worker() -> None:
    script = Script()
    copy = script.add("joined", None, 0.0, lease=60.0, call={"budget": 9}, lane=4, pid=1, host="here")
    script.asked(0, 1.0)
    script.events[-1] = type(script.events[-1])(**{**vars(script.events[-1]), "copy": copy})
    script.add("lost", 0, 70.0, reason="It did not report.", traceback="", seconds=None, worker=None, output="")
    assert [(each.worker, each.lost) for each in team_of(script.record())] == [(4, 1)]
    script.add("taken", 0, 71.0, copy=copy)
    script.add("lost", 0, 72.0, reason="SIGTERM", traceback="", seconds=None, worker=None, output="", given_back=True)
    assert [each.lost for each in team_of(script.record())] == [1]


@pytest.mark.parametrize(
    ("count", "events", "mine", "whole"), [(3, 9, 4, 20), (0, 5, 7, 30), (5, 5, 8, 12), (2, 19, 3, 20)]
)
def test_chances_are_those_of_the_laws(count: int, events: int, mine: int, whole: int) -> None:
    assert by_share(count, events, mine, whole) == pytest.approx(binom.sf(count - 1, events, mine / whole))
    assert by_draw(count, events, mine, whole) == pytest.approx(hypergeom.sf(count - 1, whole, events, mine))


def test_without_a_study_losses_are_unknown() -> None:
    record = Record.of_optimizer(losses(1).record().optimizer)
    assert [each.lost for each in team_of(record)] == [0] * 4
    assert list(on_team(record, {})) == []
