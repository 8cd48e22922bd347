"""Options: what a keyword of a command or a parameter of a method is called, means, and may be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import timedelta
from numbers import Integral, Real
from typing import Any, Literal

from tripcloak.ground.errors import InputError
from tripcloak.ground.given_paths import given_path
from tripcloak.ground.spelling import called, flag

Kind = Literal["text", "texts", "number", "whole number", "switch"]
Group = Literal[
    "column",
    "reading",
    "counts",
    "samples",
    "zones",
    "privacy",
    "segments",
    "compared",
    "run",
    "method option",
]


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option, with all that command line, Python, pages and lists say about it.

    Attributes
    ----------
    name : str
        The keyword in Python; the flag of the command line follows from it.
    help : str
        What it means, in a sentence.
    kind : str
        What its value is.
    default : object
        Its value where none is given.
    unset : str
        What holds where none is given, in words, where the default does not say it.
    group : str
        What it is about.
    optional : bool
        None is a value too.
    metavar : str, optional
        What stands for the value in a line of help.
    values : tuple of str
        All that it may be; anything of its kind if empty.
    least : float, optional
        The smallest number that it may be.
    reads : str, optional
        How text becomes a value: one of :data:`READERS`.
    axis : str, optional
        The axis that it is about: where there is none, it plays no part.
    same_result : bool
        It changes how the work is done, and nothing of what comes out.
    methods : tuple of str
        The methods that have it, where several share a flag.
    """

    name: str
    help: str
    kind: Kind = "text"
    default: Any = None
    unset: str = ""
    group: Group = "method option"
    optional: bool = True
    metavar: str | None = None
    values: tuple[str, ...] = ()
    least: float | None = None
    reads: str | None = None
    axis: str | None = None
    same_result: bool = False
    methods: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """Return what it is called on the command line."""
        return flag(self.name)

    @property
    def words(self) -> str:
        """Return what it means, and what it may be.

        >>> Option(name="loss", help="What is minimised.", values=("tiles", "area", "metres")).words
        'What is minimised (tiles, area or metres).'
        """
        if len(self.values) < 2:
            return self.help
        *others, last = self.values
        return f"{self.help.rstrip('.')} ({', '.join(others)} or {last})."

    @property
    def told_default(self) -> str:
        """Return what holds where nothing is given, for people; nothing where that is nothing.

        >>> Option(name="delta", help="", default=1e-6).told_default
        '1e-06'
        >>> Option(name="m", help="", unset="all of them").told_default
        'all of them'
        """
        if self.unset or self.default is None or self.default is False:
            return self.unset
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    def take(self, given: Any) -> Any:
        """Return the value of what was given, text or not; None, not given, stays None.

        >>> Option(name="time_limit", help="", kind="number", reads="duration").take("1.5min")
        90.0
        """
        if given is None:
            return None
        if self.kind == "texts":
            return (given,) if isinstance(given, str) else tuple(given)
        value = given if self.reads is None else READERS[self.reads](self, given)
        self.check(value)
        return value

    def check(self, value: Any) -> None:
        """Raise unless this may be its value.

        >>> Option(name="loss", help="", values=("tiles", "area")).check("regret")
        Traceback (most recent call last):
        tripcloak.InputError: loss must be one of tiles, area; got 'regret'
        """
        if value is None and self.optional:
            return
        if self.values and value not in self.values:
            raise self.refusal(f"must be one of {', '.join(self.values)}; got {value!r}")
        asked = {"number": Real, "whole number": Integral, "switch": bool}.get(self.kind)
        if asked is not None and (
            not isinstance(value, asked) or (isinstance(value, bool) and asked is not bool)
        ):
            raise self.refusal(f"takes {_ARTICLED[self.kind]}; got {value!r}")
        # Written so that it holds of NaN too.
        if self.least is not None and not value >= self.least:
            raise self.refusal(f"must be {self.least:g} or more; got {value:g}")

    def refusal(self, words: str) -> InputError:
        """Return the error that says what is wrong with a value of this option."""
        return InputError(f"{called(self.name)} {words}")


_ARTICLED = {"number": "a number", "whole number": "a whole number", "switch": "True or False"}


def option(default: Any, **said: Any) -> Any:
    """Return a field of a method's dataclass that is an option, as :class:`Option` describes it.

    Methods are read without being loaded, so what is said is plain: texts, numbers, tuples of them, or
    ``**WORDS`` with a plain dictionary of a module's own.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Method:
    ...     loss: str = option("tiles", help="What is minimised.", values=("tiles", "area"))
    >>> [made.words for made in declared_options(Method)]
    ['What is minimised (tiles or area).']
    """
    return field(default=default, metadata={"option": said})


def declared_options(method: Any) -> tuple[Option, ...]:
    """Return the options that a method's class declares on its fields, in their order."""
    return tuple(
        described(one.name, str(one.type), None if one.default is MISSING else one.default, **said)
        for one in fields(method)
        if (said := one.metadata.get("option")) is not None
    )


def described(name: str, annotation: str, default: Any, **said: Any) -> Option:
    """Return the option of a field, whose type tells its kind.

    >>> described("levels", "int | None", 3, help="Heights.").kind
    'whole number'
    """
    types = [part.strip() for part in annotation.split("|")]
    kinds: dict[str, Kind] = {"int": "whole number", "float": "number", "bool": "switch"}
    kind = kinds.get(types[0].removeprefix("<class '").removesuffix("'>"), "text")
    return Option(name=name, kind=kind, default=default, optional="None" in types, **said)


def check_options(method: Any) -> None:
    """Raise unless every option of a method has a value that it may have."""
    for one in declared_options(method):
        one.check(getattr(method, one.name))


def values_of(options: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every option: what was given for it, or else its default; None is not given.

    >>> k = Option(name="k", help="", kind="number", default=10)
    >>> values_of([k], {}), values_of([k], {"k": None})
    ({'k': 10}, {'k': 10})
    """
    asked = {name: value for name, value in given.items() if value is not None}
    return {one.name: one.take(asked.get(one.name, one.default)) for one in options}


def shared_options(declared: Iterable[tuple[str, tuple[Option, ...]]]) -> tuple[Option, ...]:
    """Return one option for every name among those of several methods; what it says names the methods.

    It has no default and allows any value of its kind: not given, each method's own default holds, and
    given, each method checks it.

    Examples
    --------
    >>> levels = Option(name="levels", help="Heights to look up.", default=3)
    >>> shared = shared_options([("odkanon", (levels,)), ("oigh", ())])[0]
    >>> shared.help, shared.told_default
    ('odkanon: heights to look up.', '3')
    """
    owners: dict[str, dict[str, Option]] = {}
    methods = 0
    for method, options in declared:
        methods += 1
        for one in options:
            owners.setdefault(one.name, {})[method] = one
    return tuple(_shared(whose, every=len(whose) == methods) for whose in owners.values())


def _shared(whose: dict[str, Option], *, every: bool) -> Option:
    one = next(iter(whose.values()))
    if {(other.kind, other.reads) for other in whose.values()} != {(one.kind, one.reads)}:
        raise TypeError(f"{one.name} is of one kind for all methods that have it: {', '.join(whose)}")
    words, defaults = _by_text(whose, "words"), _by_text(whose, "told_default")
    told = " ".join(f"{', '.join(names)}: {text[:1].lower()}{text[1:]}" for text, names in words.items())
    if every and len(words) == 1:
        told = one.words
    unset = ", ".join(
        text if len(defaults) == 1 else f"{text} ({', '.join(names)})"
        for text, names in defaults.items()
        if text
    )
    plain = replace(one, default=None, optional=True, values=(), least=None)
    return replace(plain, help=told, unset=unset, methods=tuple(whose))


def _by_text(whose: dict[str, Option], what: str) -> dict[str, list[str]]:
    """Return the methods that say the same, by what they say."""
    said: dict[str, list[str]] = {}
    for method, one in whose.items():
        said.setdefault(getattr(one, what), []).append(method)
    return said


def seconds(option: Option, given: Any) -> Any:
    """Return a length of time in seconds.

    >>> limit = Option(name="time_limit", help="")
    >>> seconds(limit, "60s"), seconds(limit, "1.5min"), seconds(limit, "20"), seconds(limit, 20)
    (60.0, 90.0, 20.0, 20)
    """
    if isinstance(given, timedelta):
        return given.total_seconds()
    if not isinstance(given, str):
        return given
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|min|m|h)?\s*", given)
    if match is None:
        raise option.refusal(f"takes a time such as 60s or 5min; got {given!r}")
    return float(match[1]) * {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}[match[2] or "s"]


def minutes(option: Option, given: Any) -> Any:
    """Return the length of a slot of time in whole minutes.

    >>> slot = Option(name="slot", help="")
    >>> minutes(slot, "15min"), minutes(slot, "1h"), minutes(slot, "1d"), minutes(slot, 30)
    (15, 60, 1440, 30)
    """
    if isinstance(given, timedelta):
        given = f"{given.total_seconds() / 60:g}min"
    if not isinstance(given, str):
        return given
    match = re.fullmatch(r"\s*(\d{1,5})\s*(min|m|h|d)\s*", given)
    if match is None:
        raise option.refusal(f"takes a time such as 15min, 1h or 1d; got {given!r}")
    return int(match[1]) * {"min": 1, "m": 1, "h": 60, "d": 1440}[match[2]]


def numbers(option: Option, given: Any) -> tuple[float, ...]:
    """Return numbers: one, several, or text with commas between them.

    >>> numbers(Option(name="k", help=""), "1,2.5"), numbers(Option(name="k", help=""), 10)
    ((1.0, 2.5), (10,))
    """
    if not isinstance(given, str):
        return (given,) if isinstance(given, Real) else tuple(given)  # type: ignore[return-value]
    try:
        return tuple(float(part) for part in given.split(","))
    except ValueError:
        raise option.refusal(f"takes numbers separated by commas; got {given!r}") from None


def whole_numbers(option: Option, given: Any) -> tuple[int, ...]:
    """Return whole numbers: one, several, or text with commas between them.

    >>> whole_numbers(Option(name="with_levels", help=""), "8,6")
    (8, 6)
    """
    found: list[Any] = [given] if isinstance(given, Real) else list(given)
    if isinstance(given, str):
        found = given.split(",")
    try:
        if not all(isinstance(one, str | Integral) and not isinstance(one, bool) for one in found):
            raise ValueError
        return tuple(int(one) for one in found)
    except ValueError:
        raise option.refusal(f"takes whole numbers separated by commas; got {given!r}") from None


def names(option: Option, given: Any) -> tuple[str, ...]:
    """Return names: one, several, or text with commas between them.

    >>> names(Option(name="methods", help=""), "twincut, odkanon")
    ('twincut', 'odkanon')
    """
    return tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else tuple(given)


def box(option: Option, given: Any) -> tuple[float, ...]:
    """Return a box in degrees: four numbers, or text with commas between them.

    >>> box(Option(name="box", help=""), "48.8,2.2,48.9,2.4")
    (48.8, 2.2, 48.9, 2.4)
    """
    edges = numbers(option, given)
    if len(edges) != 4:
        raise option.refusal(f"takes south,west,north,east in degrees; got {len(edges)} numbers")
    return edges


LONGEST_LINE = 200


def line(option: Option, given: Any) -> str:
    """Return one line that people read at a glance.

    >>> line(Option(name="title", help=""), " Trips in May ")
    'Trips in May'
    """
    text = given.strip() if isinstance(given, str) else ""
    if not 1 <= len(text) <= LONGEST_LINE or not text.isprintable():
        raise option.refusal(f"needs one line of 1 to {LONGEST_LINE} characters")
    return text


def path(option: Option, given: Any) -> str:
    """Return where a file is from anywhere: an audit may be made from another folder."""
    return str(given_path(given).resolve())


def share(option: Option, given: Any) -> Any:
    """Return a share: a number, or text that may be percent.

    >>> share(Option(name="suppress", help=""), "10%"), share(Option(name="suppress", help=""), "0.1")
    (0.1, 0.1)
    """
    if not isinstance(given, str):
        return given
    text = given.strip()
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        raise option.refusal(f"takes a share such as 0.1 or 10%; got {given!r}") from None
    return float(f"{value / 100:.15g}") if text.endswith("%") else value


def shares(option: Option, given: Any) -> tuple[float, ...]:
    """Return shares: one, several, or text with commas between them.

    >>> shares(Option(name="suppress", help=""), "0.05,10%")
    (0.05, 0.1)
    """
    several = (given,) if isinstance(given, Real) else given
    parts = several.split(",") if isinstance(several, str) else several
    return tuple(share(option, part) for part in parts)


def percent_hint(value: float) -> str:
    """Return what to write in place of a number that was meant in percent; nothing where none was.

    >>> percent_hint(10.0), percent_hint(0.1), percent_hint(250.0)
    (': for 10 percent write 0.1 or 10%', '', '')
    """
    return f": for {value:g} percent write {value / 100:g} or {value:g}%" if 1 <= value <= 100 else ""


READERS: dict[str, Callable[[Option, Any], Any]] = {
    "box": box,
    "duration": seconds,
    "line": line,
    "names": names,
    "numbers": numbers,
    "path": path,
    "share": share,
    "shares": shares,
    "slot": minutes,
    "whole numbers": whole_numbers,
}
"""How text becomes a value, by name; what is a value already stays it."""
