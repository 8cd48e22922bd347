"""The methods by name."""

from __future__ import annotations

from tripcloak.algorithms.base import Algorithm
from tripcloak.algorithms.odkanon import ODkAnon
from tripcloak.errors import InputError

METHODS: dict[str, type[Algorithm]] = {method.name: method for method in (ODkAnon,)}


def method(name: str) -> type[Algorithm]:
    """Return the method of this name.

    >>> method("odkanon").__name__
    'ODkAnon'
    >>> method("magic")
    Traceback (most recent call last):
    tripcloak.errors.InputError: there is no method 'magic'; there are: odkanon
    """
    try:
        return METHODS[name]
    except KeyError:
        raise InputError(f"there is no method {name!r}; there are: {', '.join(METHODS)}") from None
