"""Masking at its edge: ten are told, nine are not, whichever of things and people are fewer."""

from __future__ import annotations

import pytest

from tripcloak.ground.masking import mask_small


@pytest.mark.parametrize(
    ("number", "given", "words"),
    [
        (10, {}, "10 flows"),
        (9, {}, "fewer than 10 flows"),
        (0, {}, "fewer than 10 flows"),
        (0, {"zero": True}, "0 flows"),
        (1, {"zero": True}, "fewer than 10 flows"),
        (10, {"people": 10}, "10 flows"),
        (10, {"people": 9}, "some flows"),
        (9, {"people": 10}, "some flows"),
        (0, {"people": 0, "zero": True}, "0 flows"),
        (5000, {"people": 0}, "some flows"),
        (50, {"least": 50}, "50 flows"),
        (49, {"least": 50}, "fewer than 50 flows"),
        (1000, {}, "1,000 flows"),
    ],
)
def test_a_number_is_told_from_ten_on(number: int, given: dict[str, int], words: str) -> None:
    assert mask_small(number, "flows", **given) == words  # type: ignore[arg-type]


def test_without_a_noun_nothing_follows() -> None:
    assert mask_small(3) == "fewer than 10"
