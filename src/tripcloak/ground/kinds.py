"""Kinds of values in what was written down, held against the kinds that are declared."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from tripcloak.ground.errors import InputError


def refuse_other_kinds(values: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    """Raise if an entry is of another kind than is declared for it; says which one, and not what it holds.

    Examples
    --------
    >>> refuse_other_kinds({"silence": "long"}, {"silence": float | None})
    Traceback (most recent call last):
    ...
    tripcloak.InputError: a description of an input has entries of another kind: silence
    """
    if wrong := [name for name, value in values.items() if not fits(value, kinds[name])]:
        raise InputError(f"a description of an input has entries of another kind: {', '.join(wrong)}")


def fits(value: Any, kind: Any) -> bool:
    """Return whether a value is of a kind that a field declares; which words are known, others ask.

    >>> fits(("a", 1), tuple[str, ...]), fits((1, 2.5), tuple[float, float]), fits(True, int | None)
    (False, True, False)
    """
    whole, parts = get_origin(kind), get_args(kind)
    if whole in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if whole is tuple and isinstance(value, tuple):
        kinds = parts[:1] * len(value) if parts[-1] is Ellipsis else parts
        return len(value) == len(kinds) and all(map(fits, value, kinds))
    if whole is Mapping and isinstance(value, Mapping):
        return all(fits(one, parts[0]) and fits(other, parts[1]) for one, other in value.items())
    plain = str if whole is Literal else int | float if kind is float else kind
    # True and false are no numbers, whatever Python says.
    return whole in (None, Literal) and isinstance(value, plain) and (kind is bool) is isinstance(value, bool)
