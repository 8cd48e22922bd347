"""What release folders tell together: their inputs read again, attacked, and every fact told in words."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tripcloak.flows.reading.keyed import KEY
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import release_folder
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosing import read_again
from tripcloak.ledger.disclosure import ABSENT, Disclosure
from tripcloak.ledger.facts import IN_WORDS, WHOLE_INPUT, Fact, Facts
from tripcloak.ledger.limits import with_limits
from tripcloak.records.files.frames import Input


class Told(Protocol):
    """What is asked of a table of published numbers: its name, and the zones of every flow by axis."""

    @property
    def name(self) -> str:
        """Return what it is called in words."""

    @property
    def zones(self) -> Mapping[str, Any]:
        """Return the zone of every flow, axis by axis."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """What some releases tell together; for the eyes of the data owner.

    Attributes
    ----------
    releases : tuple of Disclosure
        Those whose numbers are exact.
    facts : Facts
        What follows from them.
    noisy : tuple of str
        Names of releases whose numbers are noisy: they tell nothing exactly, and what they cost is another
        account.

    Examples
    --------
    >>> nothing = Facts(found=(), complete=True, k=10, people=0, groups=9, atoms=9)
    >>> Difference(releases=(), facts=nothing).words()
    'Nothing about fewer than 10 people follows from these releases together.'
    """

    releases: tuple[Told, ...]
    facts: Facts
    noisy: tuple[str, ...] = ()

    @property
    def safe(self) -> bool:
        """Return whether nothing follows, and all was looked at."""
        return self.facts.complete and not len(self.facts)

    def words(self) -> str:
        """Return the verdict in a sentence."""
        facts = self.facts
        if not self.releases and self.noisy:
            return "No exact number is published, so nothing follows by adding and subtracting."
        if not len(facts):
            whole = "" if facts.complete else " that was found; not every combination could be looked at"
            return f"Nothing about fewer than {facts.k:,} people follows from these releases together{whole}."
        several = "fact follows" if len(facts) == 1 else "facts follow"
        concerned = "1 person is" if facts.people == 1 else f"{facts.people:,} people are"
        return (
            f"{len(facts):,} {several} from these releases together, each about fewer than {facts.k:,} "
            f"people; {concerned} concerned."
        )

    def left_out(self) -> str | None:
        """Return which releases were not attacked, and why; None where there are none."""
        if not self.noisy:
            return None
        which = ", ".join(self.noisy)
        return f"Left out, as noisy numbers tell nothing exactly: {which}."

    def about(self, fact: Fact) -> str:
        """Return how many people a fact is about, in words."""
        return "1 person" if fact.people == 1 else f"{fact.people:,} people"

    def certificate(self, fact: Fact) -> str:
        """Return how a fact follows, in words that a person can recompute."""
        if fact.kind == "limits":
            within = ", ".join(
                f"{term.published:,} ({self.releases[term.release].name})" for term in fact.terms
            )
            return f"{fact.words()}, as inputs have no more trips in all, by their limits, than {within}"
        terms = [
            f"{_times(term.factor, first=not at)}{term.published:,} ({self._named(term.release, term.group)})"
            for at, term in enumerate(fact.terms)
        ]
        if fact.kind == "between" and all(term.factor > 0 for term in fact.terms):
            rest = ", next to what is told of the others in them" if fact.beside else ""
            told = ", ".join(term.removeprefix("+ ") for term in terms)
            where = "all" if len(fact.atoms) == 1 else "one or more"
            return f"{fact.words()} lie in {where} of: {told}{rest}"
        if fact.kind == "repeated":
            around = " and ".join(term.removeprefix("- ") for term in terms[1:])
            return f"{fact.words()} of {terms[0]} are repeated, as travellers are told beside {around}"
        share = "" if fact.divisor == 1 else f", divided by {fact.divisor}"
        return f"{' '.join(terms)}{share} = {fact.words().removeprefix('exactly ')}"

    def _named(self, release: int, group: int) -> str:
        flow = self._flow(release, group)
        time = f" at {flow.pop('time')}" if "time" in flow else ""
        return f"{self.releases[release].name}: {' to '.join(flow.values())}{time}"

    def _flow(self, release: int, group: int) -> dict[str, str]:
        """Return the zones of a published flow, axis by axis; none of a whole input."""
        if group == WHOLE_INPUT:
            return {}
        return {axis: str(zones[group]) for axis, zones in self.releases[release].zones.items()}

    def between(self) -> list[tuple[str, int, int]]:
        """Return which releases give facts away together, how many, and about how many people at most."""
        found: dict[tuple[int, ...], list[int]] = {}
        for fact in self.facts.found:
            found.setdefault(fact.releases, []).append(fact.people)
        rows = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
        return [
            (" and ".join(self.releases[one].name for one in names), len(people), max(people))
            for names, people in rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with the certificate of every fact."""
        return {
            "safe": self.safe,
            "verdict": self.words(),
            "releases": [one.name for one in self.releases],
            "noisy": list(self.noisy),
            **self.facts.to_dict(),
            "certificates": [self._told(fact) for fact in self.facts.found],
        }

    def _told(self, fact: Fact) -> dict[str, Any]:
        return {
            "kind": fact.kind,
            "meaning": IN_WORDS[fact.kind],
            "unit": fact.unit,
            "least": fact.least,
            "most": fact.most,
            "people": fact.people,
            "divided_by": fact.divisor,
            "terms": [
                {
                    "times": term.factor,
                    "release": self.releases[term.release].name,
                    **self._flow(term.release, term.group),
                    "published": term.published,
                }
                for term in fact.terms
            ],
        }


def difference(
    folders: Sequence[Path],
    *,
    inputs: Sequence[Input] = (),
    k: int | None = None,
    memory: Memory = None,
    progress: Progress = silent,
) -> Difference:
    """Return all that release folders tell together of fewer than k people.

    Every input is read again as the private part of its release says. Records are told apart by a key that
    is made for this once and forgotten.

    Parameters
    ----------
    folders
        The releases, with their private parts; one alone where it tells its flows by segment.
    inputs
        Where the input of all of them lies now; where each was read from, if not given.
    k
        The smallest k that any of them promises, if not given.
    """
    if not folders:
        raise InputError("a difference is one between releases: give two folders or more")
    if k is not None and k < 2:
        raise InputError(f"facts about fewer than k people are looked for, k being at least 2; got {k}")
    key = secrets.token_bytes(KEY)
    names = _names(folders)
    told: list[Disclosure] = []
    noisy: list[str] = []
    for number, (folder, name) in enumerate(zip(folders, names, strict=True)):
        progress("reading releases again", number, len(folders))
        found = read_again(folder, key, inputs=inputs, name=name, memory=memory)
        told += found
        noisy += [] if found else [name]
    if len(told) < 2:
        raise InputError(
            "there are not two tables of exact numbers to compare: give two folders or more, or one that "
            "tells its flows by segment; noisy numbers tell nothing exactly"
        )
    _refuse_strangers(told)
    facts = with_limits(attack(told, k=k, progress=progress), told)
    return Difference(releases=tuple(told), facts=facts, noisy=tuple(noisy))


def within(
    disclosures: Sequence[Disclosure],
    *,
    k: int | None = None,
    noisy: Sequence[str] = (),
    progress: Progress = silent,
) -> Difference:
    """Return all that the releases of a ledger tell together of fewer than k people.

    Parameters
    ----------
    noisy
        Names of its noisy releases, which tell nothing exactly.
    """
    if not disclosures and not noisy:
        raise InputError("the ledger knows of no release yet, and nothing follows from none")
    nothing = Facts(found=(), complete=True, k=k or 0, people=0, groups=0, atoms=0)
    facts = with_limits(attack(disclosures, k=k, progress=progress), disclosures) if disclosures else nothing
    return Difference(releases=tuple(disclosures), facts=facts, noisy=tuple(noisy))


def _names(folders: Sequence[Path]) -> list[str]:
    """Return what the releases are called: the names of their folders, or their paths where those repeat."""
    short = [release_folder(folder).resolve().name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def _refuse_strangers(told: Sequence[Disclosure]) -> None:
    """Raise where no record or person of a release is in any other: they are of different data."""
    for one in told:
        if not any(_share_somebody(one, other) for other in told if other is not one):
            raise InputError(
                f"{one.name} has no record in common with the others, and nobody: it is of other data, or of "
                "other people alone, and nothing follows from comparing them"
            )


def _share_somebody(one: Disclosure, other: Disclosure) -> bool:
    """Return whether releases have records in common, or people with other trips in each, as months do."""
    return bool(np.any(other.groups_of(one.record) != ABSENT)) or bool(
        len(np.intersect1d(one.person, other.person))
    )


def _times(factor: int, *, first: bool) -> str:
    sign = "- " if factor < 0 else "" if first else "+ "
    return sign if abs(factor) == 1 else f"{sign}{abs(factor)} x "
