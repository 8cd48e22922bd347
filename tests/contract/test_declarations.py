"""What methods declare: the same from their source as from their classes, complete, and plain."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from tripcloak.flows.keywords import keywords as flow_keywords
from tripcloak.flows.keywords import zoning
from tripcloak.flows.methods.method import FlowMethod
from tripcloak.flows.methods.registry import METHODS
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import declared_options, option, values_of
from tripcloak.ground.registry import NotPlainError, Registry, declared_in_source
from tripcloak.ground.spelling import spelt_as_flags
from tripcloak.records.keywords import trip_source
from tripcloak.records.source import TripSource
from tripcloak.trajectories.keywords import keywords as trajectory_keywords
from tripcloak.trajectories.keywords import trajectory_source
from tripcloak.trajectories.methods.kscale import PICKS
from tripcloak.trajectories.methods.method import HidingMethod
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
from tripcloak.trajectories.reading import TrajectorySource

REGISTERED = [
    pytest.param(registry, name, id=f"{wing}-{name}")
    for wing, registry in (("flows", METHODS), ("trajectories", TRAJECTORY_METHODS))
    for name in registry
]
every_method = pytest.mark.parametrize(("registry", "name"), REGISTERED)
FACTS = ("name", "summary", "source")


@every_method
def test_what_the_source_says_is_what_the_class_says(registry: Registry[Any], name: str) -> None:
    method = registry[name]
    read = declared_in_source(method.__module__, method.__name__)
    assert tuple(read.options.values()) == declared_options(method)
    assert {fact: read.facts[fact] for fact in FACTS} == {fact: getattr(method, fact) for fact in FACTS}
    for fact, value in read.facts.items():
        assert getattr(method, fact) == value, fact


@every_method
def test_every_parameter_of_its_own_is_declared(registry: Registry[Any], name: str) -> None:
    shared = {one.name for kind in (FlowMethod, HidingMethod) for one in fields(kind)}
    own = {one.name for one in fields(registry[name])} - shared
    assert own == {one.name for one in registry.options(name)}


@every_method
def test_every_option_says_what_it_means(registry: Registry[Any], name: str) -> None:
    for one in registry.options(name):
        assert one.help.endswith("."), one.name
        assert one.help[0].isupper(), one.name
        assert one.metavar or one.kind == "switch", one.name
        # None stands for something that people want to know.
        assert one.told_default, one.name


@every_method
def test_values_are_those_of_the_types(registry: Registry[Any], name: str) -> None:
    hints = get_type_hints(registry[name])
    for one in registry.options(name):
        if get_origin(hints[one.name]) is Literal:
            assert one.values == get_args(hints[one.name])
        for value in one.values:
            assert getattr(registry[name](**{one.name: value}), one.name) == value


def test_the_constraints_that_are_allowed_are_those_that_can_be_met() -> None:
    (constraint,) = (one for one in TRAJECTORY_METHODS.options("k-scale") if one.name == "constraint")
    assert set(constraint.values) == {*PICKS, "full"}


def test_time_plays_no_part_where_there_is_none() -> None:
    of_time = {one.name for one in METHODS.shared_options() if one.axis == "time"}
    assert of_time == {"time_weight"}
    for command in ("compare", "exposure"):
        assert not of_time & {one.name for one in flow_keywords(command)}
    assert of_time <= {one.name for one in flow_keywords("anonymise")}


def test_what_is_not_plain_is_read_from_the_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from tripcloak.ground.options import option\n\n"
        "@dataclass\n"
        "class Far:\n"
        "    haste: str = option('a', help='Haste.', values=tuple('abc'))\n"
    )
    (tmp_path / "far_away").mkdir()
    (tmp_path / "far_away" / "__init__.py").touch()
    (tmp_path / "far_away" / "far.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(NotPlainError):
        declared_in_source("far_away.far", "Far")
    known: Registry[Any] = Registry("far_away", {"far": "far:Far"})
    assert [one.values for one in known.options("far")] == [("a", "b", "c")]
    assert known.fact("far", "__name__") == "Far"


def test_a_class_that_is_not_there_cannot_be_read() -> None:
    with pytest.raises(NotPlainError):
        declared_in_source("tripcloak.flows.methods.odkanon", "Nobody")
    with pytest.raises(NotPlainError):
        declared_in_source("tripcloak.flows.methods.nowhere", "Nobody")


@dataclass(frozen=True, kw_only=True)
class MadeUp(HidingMethod):
    """A method that stands in no file of methods."""

    haste: int = option(3, help="Haste.", metavar="N")


def test_a_registry_is_a_dictionary_of_classes() -> None:
    known: Registry[Any] = Registry("tripcloak.flows.methods", {"odkanon": "odkanon:ODkAnon"})
    assert list(known) == ["odkanon"]
    assert "odkanon" in known
    assert known.of_class("ODkAnon") is known["odkanon"] is METHODS["odkanon"]
    known["made-up"] = MadeUp
    assert [one.name for one in known.options("made-up")] == ["haste"]
    assert known.of_class("MadeUp") is MadeUp
    del known["made-up"]
    assert len(known) == 1
    with pytest.raises(KeyError):
        known.of_class("MadeUp")
    with pytest.raises(KeyError):
        known["made-up"]


def test_an_option_goes_to_those_who_have_it() -> None:
    own = METHODS.own_of_each(("twincut", "odkanon"), {"loss": "area", "levels": 4, "m": None})
    assert own == {"twincut": {"loss": "area"}, "odkanon": {"levels": 4}}
    with pytest.raises(InputError) as refused:
        METHODS.own_of_each(("twincut", "odkanon"), {"m": 2})
    assert str(refused.value) == "none of twincut, odkanon has an option m: m is an option of km-apriori"
    with spelt_as_flags(), pytest.raises(InputError, match="none of twincut, odkanon has an option --m: "):
        METHODS.own_of_each(("twincut", "odkanon"), {"m": 2})


FLOWS = ("anonymise", "compare", "describe", "exposure", "audit", "measures")
TRAJECTORIES = ("anonymise", "compare", "describe", "attack", "trips", "audit", "measures")


@pytest.mark.parametrize(
    "keywords",
    [flow_keywords(name) for name in FLOWS] + [trajectory_keywords(name) for name in TRAJECTORIES],
    ids=[f"flows-{name}" for name in FLOWS] + [f"trajectories-{name}" for name in TRAJECTORIES],
)
def test_the_keywords_of_a_command_are_told_apart_and_explained(keywords: tuple[Any, ...]) -> None:
    names = [one.name for one in keywords]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and name.islower() for name in names)
    assert all(one.help.endswith((".", ".)")) for one in keywords)
    assert values_of(keywords, {}).keys() == set(names)


def test_defaults_are_those_of_the_library() -> None:
    given = values_of(flow_keywords("anonymise"), {})
    # Whoever reads by hand is stopped by nothing; whoever makes a release is, by what is lost of a file.
    assert trip_source(["trips.csv"], given) == TripSource(paths=("trips.csv",), tolerate=0.05)
    assert zoning(given) == Zoning()
    assert given["suppress"] == METHODS["twincut"]().suppression_limit
    assert given["k"] == METHODS["twincut"]().promise.k  # type: ignore[attr-defined]
    read = values_of(trajectory_keywords("anonymise"), {})
    assert trajectory_source(["calls.csv"], read) == TrajectorySource(paths=("calls.csv",), tolerate=0.05)
