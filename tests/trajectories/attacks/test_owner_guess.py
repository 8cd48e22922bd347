"""How often a guess is right is told of enough people, and no closer than their number allows."""

from __future__ import annotations

import pytest

from tripcloak.trajectories.attacks import attack
from tripcloak.trajectories.attacks import owner as told
from tripcloak.trajectories.attacks.owner import guess_owner
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.release.guess import OwnerGuess
from worlds.trajectories import made, one_box_release


def of(people: int, named: int) -> OwnerGuess:
    return OwnerGuess.of([1.0] * named + [0.0] * (people - named), [0.25] * people)


@pytest.mark.parametrize(
    ("people", "named", "right", "blind"),
    [
        (9, 3, None, None),
        (10, 3, 30, 30),
        (99, 31, 40, 30),
        (100, 31, 31, 25),
        (200, 125, 63, 25),
        (200, 124, 62, 25),
        (1000, 0, 0, 25),
        (50, 0, 0, 30),
        (50, 50, 100, 30),
    ],
)
def test_numbers_are_as_close_as_the_number_of_people_allows(people, named, right, blind):
    assert of(people, named) == OwnerGuess(people=people, right=right, blind=blind)


def test_lost_binary_digits_make_no_difference_to_a_band():
    for chance in (0.1, 0.3, 0.7):
        assert OwnerGuess.of([chance] * 30, [chance] * 30).right == round(100 * chance)


def test_it_goes_into_a_manifest_and_back():
    guess = of(120, 40)
    assert OwnerGuess.from_manifest(guess.to_manifest()) == guess
    assert list(guess.to_manifest()) == ["people", "right", "blind"]


def test_it_is_the_best_of_the_simple_guesses_of_the_attack():
    people = made(users=120, samples=3, seed=4, spread=10)
    release = find_trajectory_method("k-scale")(k=3, constraint="nu-k-pick").anonymise(people)
    named = attack(people, "owner", release=release).summary()["named"]
    found = guess_owner(people, release)
    assert found.people == 120
    assert abs(found.right - 100 * max(named.values())) <= 0.5
    assert abs(found.blind - 100 * named["blind"]) <= 0.5
    assert found.right > found.blind


def test_so_many_are_tried_and_no_more(monkeypatch):
    monkeypatch.setattr(told, "TRIED", 15)
    people = made(users=30, samples=3, seed=4)
    assert guess_owner(people, one_box_release(people)) == OwnerGuess(people=15, right=10, blind=10)


def test_of_points_that_were_moved_nothing_is_told():
    people = made(users=12, samples=3, seed=4)
    assert guess_owner(people, find_trajectory_method("w4m")(k=2).anonymise(people)) is None


@pytest.mark.parametrize(("people", "right"), [(100, 34), (99, 40), (10, 30), (9, None)])
def test_whole_numbers_are_told_of_a_hundred_people_and_tens_of_fewer(people: int, right: int | None) -> None:
    chances = [1.0] * round(0.336 * people) + [0.0] * (people - round(0.336 * people))
    assert OwnerGuess.of(chances, chances).right == right
