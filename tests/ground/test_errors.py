"""Errors: one family, and an exit code for whose turn it is."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tripcloak.ground import errors

FAMILY: list[Any] = [
    kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == "tripcloak"
]


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.__name__)
def test_every_error_is_of_the_family_and_says_what_it_is(kind: type[errors.TripcloakError]) -> None:
    assert issubclass(kind, errors.TripcloakError)
    assert inspect.getdoc(kind)
    assert kind.exit_code in {1, 2, 3}


def test_the_family_is_as_large_as_its_module_says() -> None:
    assert {errors.InputError, errors.OutputExistsError, errors.InternalError} <= set(FAMILY)


def test_exit_codes_say_whose_turn_it_is() -> None:
    for kind in FAMILY:
        asked_wrong = issubclass(kind, errors.InputError)
        answered_no = issubclass(kind, errors.ImpossibleRequestError | errors.AuditFailedError)
        assert kind.exit_code == (2 if asked_wrong else 1 if answered_no else 3)
