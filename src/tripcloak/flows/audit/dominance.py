"""The auditor's own reckoning of what one traveller has of a released flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from tripcloak.flows.audit.columns import TOLERANCE
from tripcloak.ground.entries import is_number, unreadable
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt

ENTRY = "promise"
VOLUMES = ("trips", "population")


class PartRule(NamedTuple):
    """A rule on the largest parts of a flow, and what it looks at.

    ``share`` is the largest share of one traveller, or the share of the largest part that must be left when
    the two largest are taken away.
    """

    kind: str
    share: Fraction
    of: tuple[str, ...]

    @property
    def figure(self) -> str:
        """Return the number that a sentence on it gives: percent in either case."""
        return f"{float(100 * self.share):g}"

    def broken(self, total: str, first: str, second: str, volume: str) -> str:
        """Return SQL that is true where the rule is broken, given what a flow holds and its largest parts."""
        up, down = self.share.numerator, self.share.denominator
        slack = f" * (1 + {TOLERANCE!r})" if volume == "population" else ""
        if self.kind == "dominance":
            return f"not coalesce({first} * {down} <= ({total} * {up}){slack}, false)"
        rest = f"({total} - {first} - coalesce({second}, 0)) * {down}"
        # What rounding takes away is a share of the whole, not of the little that may be left.
        near = f" + {TOLERANCE!r} * {total} * {down}" if volume == "population" else ""
        return f"not coalesce({rest}{near} >= {first} * {up}, false)"


def read_rule(told: Mapping[str, Any]) -> PartRule:
    """Return the rule that a part of a promise states, or raise :class:`BrokenPart`.

    >>> read_rule({"kind": "dominance", "share": 0.29, "of": ["trips"]}).share
    Fraction(29, 100)
    """
    kind = str(told["kind"])
    name = "share" if kind == "dominance" else "p"
    if set(told) != {"kind", name, "of"}:
        raise unreadable(ENTRY, f"of a known kind, with {name}, of and no more")
    number, of = told[name], told["of"]
    if not isinstance(of, list) or not of or of != [volume for volume in VOLUMES if volume in of]:
        raise unreadable(f"{ENTRY}.of", " or ".join(VOLUMES))
    if not is_number(number) or not 0 < number <= (1 if kind == "dominance" else 100):
        raise unreadable(f"{ENTRY}.{name}", "a share of a flow")
    exact = Fraction(repr(float(number)))
    return PartRule(kind, exact if kind == "dominance" else exact / 100, tuple(of))


def check_ordered(parts: Mapping[str, float]) -> None:
    """Raise where an order on the largest parts of a flow means nothing.

    >>> check_ordered({"dominance": 1.5})
    Traceback (most recent call last):
    tripcloak.InputError: the largest share of one traveller lies above 0 and below 1; got 1.5
    """
    share, percent = parts.get("dominance"), parts.get("p-percent")
    if share is not None and not 0 < share < 1:
        raise InputError(f"the largest share of one traveller lies above 0 and below 1; got {share:g}")
    if percent is not None and not 0 < percent <= 100:
        raise InputError(f"{spelt('p_percent')} lies above 0 and is at most 100; got {percent:g}")


def weaker_than_ordered(rules: Iterable[PartRule], parts: Mapping[str, float]) -> str | None:
    """Return what a manifest does not promise though it was ordered.

    >>> half = read_rule({"kind": "dominance", "share": 0.5, "of": ["trips"]})
    >>> weaker_than_ordered([half], {"dominance": 0.5})
    >>> weaker_than_ordered([half], {"dominance": 0.4})
    'the manifest does not promise the dominance of 0.4 that was ordered'
    """
    rules = list(rules)
    for kind, number in parts.items():
        told = [rule.share for rule in rules if rule.kind == kind]
        exact = Fraction(repr(float(number)))
        fits = max(told) <= exact if told and kind == "dominance" else bool(told) and min(told) >= exact / 100
        if not fits:
            return f"the manifest does not promise the {kind} of {number:g} that was ordered"
    return None


def largest_sql(parts: str, key: str) -> str:
    """Return SQL for rows of key, first and second: the two largest parts that one person has of it.

    Parameters
    ----------
    parts
        SQL for rows of key, person and part, any number of them a person.
    """
    return f"""
        select {key}, two[1] as first, two[2] as second from (
            select {key}, max(part, 2) as two from (
                select {key}, person, sum(part) as part from ({parts}) where person is not null
                group by {key}, person
            ) group by {key}
        )
    """


def in_words(rule: PartRule, flows: str) -> str:
    """Return what is wrong where some flows break a rule."""
    if rule.kind == "dominance":
        return f"one traveller has more than {rule.figure} % of {flows}"
    return f"of {flows} one traveller's part can be told to within {rule.figure} % by another one"


def said_of_halves(flows: int, halves: int) -> str:
    """Return what may be said of flows in which one traveller makes half or more of the trips.

    >>> said_of_halves(100, 9)
    'in fewer than one in ten flows one id makes half or more of the trips'
    """
    if flows < 20:
        return "not told how often one id makes half or more of a flow's trips: there are too few flows"
    often = "more than one in two of the" if 2 * halves > flows else "one in ten to one in two of the"
    often = "fewer than one in ten" if 10 * halves < flows else often
    return f"in {often} flows one id makes half or more of the trips"
