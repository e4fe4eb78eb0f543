from __future__ import annotations

import inspect
import pickle

import pytest

from aegisbo import errors
from aegisbo.errors import AegisError, InvalidInput, MissingExtra, SpaceExhausted, StudyError, TrialError, UnknownName

KNOWN = ["Branin", "Hartmann3", "Hartmann6"]


def test_one_except_clause_catches_the_whole_family() -> None:
    family = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__}
    family -= {errors.Stopped}  # no error: it ends an evaluation that is not needed any more
    assert family == {
        *(AegisError, InvalidInput, MissingExtra, SpaceExhausted, StudyError, TrialError, UnknownName),
        *(errors.EvaluationFailed, errors.NoModel, errors.NoTime, errors.OneNumber, errors.SeveralObjectives),
    }
    assert all(issubclass(kind, AegisError) for kind in family)
    assert not issubclass(errors.Stopped, Exception)  # so that no training loop holds it by accident


@pytest.mark.parametrize(
    ("kind", "builtin"), [(InvalidInput, ValueError), (UnknownName, ValueError), (MissingExtra, ImportError)]
)
def test_who_knows_only_the_builtin_kind_catches_it_too(kind: type, builtin: type) -> None:
    assert issubclass(kind, builtin)


@pytest.mark.parametrize(
    ("name", "nearest"), [("branin", "Branin"), ("BRANIN", "Branin"), ("Brannin", "Branin"), ("hartman6", "Hartmann6")]
)
def test_a_slip_of_the_key_is_answered_with_the_nearest_name(name: str, nearest: str) -> None:
    message = str(UnknownName("problem", name, KNOWN))
    assert message == f"Unknown problem {name!r}: did you mean {nearest!r}?"


def test_a_name_like_no_other_is_answered_with_all_names_in_order() -> None:
    message = str(UnknownName("problem", "xyz", reversed(KNOWN)))
    assert message == "Unknown problem 'xyz': known: Branin, Hartmann3, Hartmann6."


def test_a_missing_extra_names_the_command_that_brings_it() -> None:
    message = str(MissingExtra("The HTML report", "report"))
    assert message == "The HTML report needs an optional package: pip install 'aegisbo[report]'"


@pytest.mark.parametrize("kind", [AegisError, InvalidInput, TrialError, SpaceExhausted])
def test_an_error_survives_the_way_back_from_a_worker(kind: type[AegisError]) -> None:
    error = pickle.loads(pickle.dumps(kind("low = 3 is above high = 2")))
    assert type(error) is kind
    assert str(error) == "low = 3 is above high = 2"
