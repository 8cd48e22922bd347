"""Options: text becomes values, wrong values are refused in the words of Python and of the command line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.ground.options import (
    Option,
    check_options,
    declared_options,
    option,
    shared_options,
    values_of,
)
from tripcloak.ground.spelling import spelt_as_flags


def of_kind(kind: Any, **said: Any) -> Option:
    return Option(name="some_option", help="Some.", kind=kind, optional=False, **said)


@pytest.mark.parametrize(
    ("reads", "given", "value"),
    [
        ("duration", "60s", 60.0),
        ("duration", " 1.5 min ", 90.0),
        ("duration", "2h", 7200.0),
        ("duration", "20", 20.0),
        ("duration", 20, 20),
        ("slot", "15min", 15),
        ("slot", "1d", 1440),
        ("slot", 30, 30),
        ("numbers", "5,10", (5.0, 10.0)),
        ("numbers", 10, (10,)),
        ("numbers", [5, 10], (5, 10)),
        ("names", "twincut, odkanon", ("twincut", "odkanon")),
        ("names", ["twincut"], ("twincut",)),
        ("box", "48.8,2.2,48.9,2.4", (48.8, 2.2, 48.9, 2.4)),
        ("box", (48.8, 2.2, 48.9, 2.4), (48.8, 2.2, 48.9, 2.4)),
    ],
)
def test_text_becomes_a_value_and_a_value_stays_one(reads: str, given: Any, value: Any) -> None:
    assert Option(name="some_option", help="Some.", reads=reads).take(given) == value


def test_a_file_is_found_from_anywhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Option(name="zones", help="", reads="path").take("zones.csv") == str(tmp_path / "zones.csv")


@pytest.mark.parametrize(
    ("reads", "given", "words"),
    [
        ("duration", "soon", "takes a time such as 60s or 5min; got 'soon'"),
        ("duration", "-5s", "takes a time such as 60s or 5min; got '-5s'"),
        ("numbers", "1,two", "takes numbers separated by commas; got '1,two'"),
        ("box", "1,2,3", "takes south,west,north,east in degrees; got 3 numbers"),
    ],
)
def test_text_that_is_no_value_is_refused(reads: str, given: str, words: str) -> None:
    with pytest.raises(InputError) as refused:
        Option(name="some_option", help="", reads=reads).take(given)
    assert str(refused.value) == f"some_option {words}"
    with spelt_as_flags(), pytest.raises(InputError) as refused:
        Option(name="some_option", help="", reads=reads).take(given)
    assert str(refused.value) == f"--some-option {words}"


def test_a_slot_of_no_length_is_refused() -> None:
    with pytest.raises(InputError, match="slot takes a time such as 15min, 1h or 1d"):
        Option(name="slot", help="", reads="slot").take("60")


def test_nothing_given_stays_nothing_whatever_the_option() -> None:
    assert of_kind("number", least=1, reads="duration").take(None) is None
    assert of_kind("texts").take(None) is None


@pytest.mark.parametrize(("given", "value"), [("sex", ("sex",)), (["sex", "age"], ("sex", "age"))])
def test_texts_are_several_or_one(given: Any, value: tuple[str, ...]) -> None:
    assert of_kind("texts").take(given) == value


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("number", (1, 2.5, np.float64(3), np.int64(4), math.nan)),
        ("whole number", (1, np.int64(4))),
        ("switch", (True, False)),
        ("text", ("anything",)),
    ],
)
def test_what_is_of_its_kind_is_taken(kind: str, values: tuple[Any, ...]) -> None:
    for value in values:
        of_kind(kind).check(value)


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        ("number", ("1", True, None, [1]), "takes a number"),
        ("whole number", (2.5, "2", True, None), "takes a whole number"),
        ("switch", (1, "yes", None), "takes True or False"),
    ],
)
def test_what_is_of_another_kind_is_refused(kind: str, values: tuple[Any, ...], words: str) -> None:
    for value in values:
        with pytest.raises(InputError, match=f"some_option {words}"):
            of_kind(kind).check(value)


@pytest.mark.parametrize("value", [-1, -0.5, math.nan])
def test_too_little_is_refused(value: float) -> None:
    with pytest.raises(InputError, match=r"some_option must be 0 or more; got"):
        of_kind("number", least=0).check(value)


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method with options of every kind, and a parameter that is none."""

    plain: int = 1
    loss: str = option("tiles", help="What is minimised.", values=("tiles", "area"))
    levels: int = option(3, help="Heights.", least=0)
    limit: float | None = option(None, help="When to stop.", unset="never", reads="duration")
    quick: bool = option(False, help="Be quick.")

    def __post_init__(self) -> None:
        check_options(self)


def test_options_are_declared_on_fields() -> None:
    declared = declared_options(Method)
    assert [one.name for one in declared] == ["loss", "levels", "limit", "quick"]
    assert [one.kind for one in declared] == ["text", "whole number", "number", "switch"]
    assert [one.told_default for one in declared] == ["tiles", "3", "never", ""]
    assert [one.optional for one in declared] == [False, False, True, False]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"loss": "regret"}, "loss must be one of tiles, area; got 'regret'"),
        ({"loss": None}, "loss must be one of tiles, area; got None"),
        ({"levels": -1}, "levels must be 0 or more; got -1"),
        ({"levels": "3"}, "levels takes a whole number; got '3'"),
        ({"limit": "60s"}, "limit takes a number; got '60s'"),
    ],
)
def test_a_method_checks_its_options_by_their_declaration(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as refused:
        Method(**asked)
    assert str(refused.value) == words
    with spelt_as_flags(), pytest.raises(InputError) as refused:
        Method(**asked)
    assert str(refused.value) == f"--{words}"


def test_methods_share_a_flag_whose_words_name_them() -> None:
    loss = Option(name="loss", help="What is minimised.", default="tiles", values=("tiles", "area"))
    here = Option(name="height", help="How high.", kind="whole number", default=0)
    there = Option(name="height", help="How high.", kind="whole number", unset="3 for grids")
    made = shared_options([("one", (loss, here)), ("two", (loss, there)), ("three", ())])
    assert [(one.name, one.methods) for one in made] == [("loss", ("one", "two")), ("height", ("one", "two"))]
    assert [one.help for one in made] == [
        "one, two: what is minimised (tiles or area).",
        "one, two: how high.",
    ]
    assert [one.told_default for one in made] == ["tiles", "0 (one), 3 for grids (two)"]
    # Not given, the default is each method's own; given, each method checks it.
    assert all(one.default is None for one in made)
    assert made[0].take("regret") == "regret"


def test_methods_that_mean_different_things_both_have_their_say() -> None:
    one, two = (Option(name="delta", help=words) for words in ("A chance.", "A distance."))
    (made,) = shared_options([("laplace", (one,)), ("w4m", (two,))])
    assert made.help == "laplace: a chance. w4m: a distance."


def test_an_option_of_all_methods_names_none() -> None:
    jobs = Option(name="jobs", help="Threads.")
    (made,) = shared_options([("one", (jobs,)), ("two", (jobs,))])
    assert made.help == "Threads."


def test_a_flag_is_of_one_kind() -> None:
    one, two = (Option(name="delta", help="", kind=kind) for kind in ("number", "text"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="delta is of one kind for all methods that have it: here, there"):
        shared_options([("here", (one,)), ("there", (two,))])


def test_values_are_what_was_given_or_the_default() -> None:
    options = [
        Option(name="k", help="", kind="number", default=10),
        Option(name="time_limit", help="", kind="number", default="5min", reads="duration"),
    ]
    assert values_of(options, {}) == {"k": 10, "time_limit": 300.0}
    assert values_of(options, {"k": 5, "time_limit": "1h"}) == {"k": 5, "time_limit": 3600.0}
