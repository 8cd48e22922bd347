"""What every verb of the front door does: take the keywords that are declared, and no others."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from tripcloak.ground.options import Option

F = TypeVar("F", bound=Callable[..., Any])

SAVING = {"out": None, "force": False}
"""Keywords of verbs that can save what they give."""


def verb(declared: Callable[[], Iterable[Option]], typed: Any, *, saves: bool = False) -> Callable[[F], F]:
    """Return a decorator of verbs, whose further keywords are declared elsewhere.

    ``help`` and notebooks then show all keywords with their defaults, and one that there is not is an error
    that names the closest.

    Parameters
    ----------
    declared
        Gives the keywords.
    typed
        The class that says their types.
    saves
        Whether the verb can save what it gives, with ``out`` and ``force``.
    """

    def decorated(function: F) -> F:
        own = inspect.signature(function)
        defaults = {one.name: one.default for one in declared()} | (SAVING if saves else {})
        named = {name: one for name, one in own.parameters.items() if one.kind is not one.VAR_KEYWORD}
        types = typed.__annotations__
        more = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_type(types.get(name, Any))
            )
            for name, default in defaults.items()
            if name not in named
        ]

        @functools.wraps(function)
        def called(*args: Any, **given: Any) -> Any:
            # Asked anew: a method may have been registered since.
            known = {*named, *defaults, *(one.name for one in declared())}
            _refuse_unknown(function.__name__, given, known)
            return function(*args, **given)

        called.__dict__["__signature__"] = own.replace(parameters=[*named.values(), *more])
        return called  # type: ignore[return-value]

    return decorated


def _type(annotation: Any) -> str:
    """Return a type as its author wrote it."""
    return str(getattr(annotation, "__forward_arg__", annotation))


def _refuse_unknown(name: str, given: Mapping[str, Any], known: set[str]) -> None:
    for keyword in given:
        if keyword not in known:
            close = get_close_matches(keyword, known, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            raise TypeError(f"{name}() has no keyword {keyword!r}{meant}")


def plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given in words that the command line has too: units with commas, numbers as text.

    >>> plain({"unit": ["travellers", "population"], "k_population": 500})
    {'unit': 'travellers,population', 'k_population': '500'}
    """
    return {name: _plain(name, value) for name, value in given.items()}


def _plain(name: str, value: Any) -> Any:
    if name == "unit" and not isinstance(value, (str, type(None))):
        return ",".join(value)
    if name == "k_population" and isinstance(value, (int, float)):
        return str(value)
    return value
