"""What every verb of the front door does: check its keywords, and speak of them as keywords."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, TypeVar

from tripcloak.ground.spelling import spelt_as_keywords

F = TypeVar("F", bound=Callable[..., Any])


def verb(known: Callable[[], Mapping[str, Any]], typed: Any) -> Callable[[F], F]:
    """Return a decorator of verbs, whose further keywords are those of a table.

    ``help`` and notebooks then show all keywords with their defaults; one that there is not is an error that
    names the closest; and errors speak of keywords, not of flags.

    Parameters
    ----------
    known
        Gives the keywords with their defaults.
    typed
        The class that says their types.
    """

    def decorated(function: F) -> F:
        own = inspect.signature(function)
        defaults = known()
        named = {name: one for name, one in own.parameters.items() if one.kind is not one.VAR_KEYWORD}
        types = typed.__annotations__
        more = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_type(types[name])
            )
            for name, default in defaults.items()
            if name not in named
        ]

        @functools.wraps(function)
        def called(*args: Any, **given: Any) -> Any:
            _refuse_unknown(function.__name__, given, {*named, *defaults})
            with spelt_as_keywords():
                return function(*args, **given)

        called.__dict__["__signature__"] = own.replace(parameters=[*named.values(), *more])
        return called  # type: ignore[return-value]

    return decorated


def _type(annotation: Any) -> str:
    """Return a type as its author wrote it."""
    return str(getattr(annotation, "__forward_arg__", annotation))


def method_verb(function: F) -> F:
    """Return a method of a result whose errors speak of keywords."""

    @functools.wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        with spelt_as_keywords():
            return function(*args, **given)

    return called  # type: ignore[return-value]


def _refuse_unknown(name: str, given: Mapping[str, Any], known: set[str]) -> None:
    for keyword in given:
        if keyword not in known:
            close = get_close_matches(keyword, known, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"{name}() has no keyword {keyword!r}{meant}")


def plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given in words that the command line has too: times as text, units with commas.

    >>> plain({"time_slot": timedelta(hours=1), "unit": ["travellers", "population"], "k_population": 500})
    {'time_slot': '60min', 'unit': 'travellers,population', 'k_population': '500'}
    """
    return {name: _plain(name, value) for name, value in given.items()}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, timedelta):
        minutes, rest = divmod(value.total_seconds(), 60)
        return f"{value.total_seconds():g}s" if rest else f"{minutes:.0f}min"
    if name == "unit" and not isinstance(value, (str, type(None))):
        return ",".join(value)
    if name == "k_population" and isinstance(value, (int, float)):
        return str(value)
    return value
