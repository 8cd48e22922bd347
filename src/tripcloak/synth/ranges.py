"""Checks of parameters: a value in its range, or an error that says what the range is."""

from __future__ import annotations

from tripcloak.errors import InputError


def check_whole(name: str, value: object, low: int, high: int) -> None:
    """Raise unless a value is a whole number from ``low`` to ``high``."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(f"{name}: expected a whole number from {low} to {high}, found {value!r}")


def check_number(name: str, value: object, low: float, high: float) -> None:
    """Raise unless a value is a number from ``low`` to ``high``."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
        raise InputError(f"{name}: expected a number from {low:g} to {high:g}, found {value!r}")


def check_centre(centre: object) -> None:
    """Raise unless a value is a (latitude, longitude) pair in degrees."""
    if not isinstance(centre, tuple) or len(centre) != 2:
        raise InputError(f"centre: expected a (latitude, longitude) pair in degrees, found {centre!r}")
    check_number("centre latitude", centre[0], -80.0, 80.0)
    check_number("centre longitude", centre[1], -180.0, 180.0)
