"""What every verb of the front door does: take the keywords that are declared, and no others."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from tripcloak.ground.options import Option

F = TypeVar("F", bound=Callable[..., Any])

SAVING = (
    Option(name="out", help="Folder to save the result to as well."),
    Option(name="force", help="Replace what is there.", default=False),
)
"""Keywords of verbs that can save what they give."""

MORE = {
    "zones": "A hierarchy such as h3:9 or quadtree:12; or, with ``hierarchy`` dendrogram or table, a table "
    "of zones in memory or its path: GeoJSON, GeoParquet or CSV.",
}
"""What keywords mean that take more here than flags can."""


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
        options = (*declared(), *(SAVING if saves else ()))
        defaults = {one.name: one.default for one in options}
        named = {name: one for name, one in own.parameters.items() if one.kind is not one.VAR_KEYWORD}
        types = typed.__annotations__
        keywords = {
            name: inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_type(types.get(name, Any))
            )
            for name, default in defaults.items()
        }

        @functools.wraps(function)
        def called(*args: Any, **given: Any) -> Any:
            # Asked anew: a method may have been registered since.
            known = {*named, *defaults, *(one.name for one in declared())}
            _refuse_unknown(function.__name__, given, known)
            return function(*args, **given)

        # The input first, what was declared in its order, and the rest at the end.
        first = {name: one for name, one in named.items() if one.kind is one.POSITIONAL_ONLY}
        ordered = first | keywords | named
        called.__dict__["__signature__"] = own.replace(parameters=list(ordered.values()))
        called.__doc__ = _with_keywords(function.__doc__ or "", options, known=set(named))
        return called  # type: ignore[return-value]

    return decorated


def _with_keywords(words: str, options: Iterable[Option], known: set[str]) -> str:
    """Return the words of a verb with a section on all its further keywords, for ``help``."""
    above, examples, below = inspect.cleandoc(words).partition("Examples\n--------\n")
    lines = [f"{one.name}\n{_indented(in_keywords(one))}" for one in options if one.name not in known]
    return "\n".join([f"{above}Other Parameters", "-" * 16, *lines, "", f"{examples}{below}"])


def in_keywords(option: Option) -> str:
    """Return what an option means, for those who write keywords.

    >>> in_keywords(Option(name="stations", help="Where each id of --antenna is.", unset="nowhere"))
    'Where each id of ``antenna`` is. Not given: nowhere.'
    """
    told = MORE.get(option.name, option.words)
    told = re.sub(r"--([a-z][a-z-]*)", lambda flag: f"``{flag[1].replace('-', '_')}``", told)
    for here, there in _HERE.items():
        told = told.replace(there, here)
    return f"{told} Not given: {option.unset}." if option.unset else told


_HERE = {
    "as a list": "separated by commas",
    ", or several": " (repeatable)",
    "``tripcloak.METHODS``": "`tripcloak methods`",
    "``tripcloak.TRAJECTORY_METHODS``": "`tripcloak trajectories methods`",
}
"""Words of Python for words of the command line."""


def _indented(words: str) -> str:
    indent = " " * 4
    return textwrap.fill(words, 106, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


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
