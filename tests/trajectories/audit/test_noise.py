"""What parts of noise are for, by the parameters of a release: understated in the memory of an auditor."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from tripcloak.ground.rulebook import Remark
from tripcloak.trajectories.audit.noise import noise_faults
from tripcloak.trajectories.audit.promise import Part, Stated
from tripcloak.trajectories.methods.noise.adatrace import AdaTrace
from tripcloak.trajectories.methods.noise.dptd import DPTD
from tripcloak.trajectories.methods.noise.locations import InterestingLocations
from tripcloak.trajectories.methods.noise.safepath import SafePath
from tripcloak.trajectories.model import Grid, Trajectories

PEOPLE = Trajectories.of(user=[0, 1], t=[0, 3000], x=[0, 5], y=[0, 5], grid=Grid())
METHODS = [AdaTrace, InterestingLocations, DPTD, SafePath]
UNITS = ["user", "event", "w-event", "l-trajectory", "element"]
LESS = "less than what is hidden changes"


def stated(method: Any) -> Stated:
    parts = tuple(Part(*part) for part in method.planned(PEOPLE))
    promise = method.promise
    return Stated(
        "differential privacy of trajectories",
        epsilon=promise.epsilon,
        unit=promise.unit,
        window=promise.window,
        parts=parts,
    )


def words(method: Any, promise: Stated, **other: Any) -> str:
    found = noise_faults(promise, method.name, {**method.parameters(), **other})
    return str(found.words if isinstance(found, Remark) else found)


@pytest.mark.parametrize("made", METHODS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("length", [1, 4, 5])
def test_every_part_is_for_no_less_than_what_the_parameters_imply(made: Any, unit: str, length: int) -> None:
    longer = {"length": length} if any(one.name == "length" for one in fields(made)) else {}
    method = made(unit=unit, **longer)
    promise = stated(method)
    assert words(method, promise).startswith("what the parts of the noise spend")
    for at, part in enumerate(promise.parts):
        fewer = part._replace(changes=part.changes - 1)
        forged = promise._replace(parts=(*promise.parts[:at], fewer, *promise.parts[at + 1 :]))
        assert LESS in words(method, forged)


@pytest.mark.parametrize("made", METHODS)
def test_parts_that_are_left_out_named_twice_or_made_up_are_found(made: Any) -> None:
    method = made()
    promise = stated(method)
    first, *rest = promise.parts
    others = [part for part in promise.parts if part.name.split()[:2] != promise.parts[-1].name.split()[:2]]
    for parts in (others, [*rest, first, first], [first._replace(name="more"), *rest, first]):
        cheap = tuple(part._replace(epsilon=1e-9, scale=1e17) for part in parts)
        assert "are not those" in words(method, promise._replace(parts=cheap))


def test_parameters_that_say_other_than_the_promise_or_nothing_are_found() -> None:
    method = SafePath(unit="w-event", window=2)
    promise = stated(method)
    for name, other in (("epsilon", 0.5), ("unit", "user"), ("window", 3)):
        assert f"another {name} than the promise" in words(method, promise, **{name: other})
    for length in (None, "4", 0, True):
        assert "how many visits or places" in words(method, promise, length=length)
    assert "are not those" in words(method, promise, length=10**12)
    longer = replace(InterestingLocations(), length=500)
    assert words(longer, stated(longer)).startswith("what the parts")
    assert LESS in words(longer, stated(InterestingLocations(length=499)))
    for unknown in ("by-hand", ["safepath"], None):
        assert isinstance(noise_faults(promise, unknown, None), Remark)
