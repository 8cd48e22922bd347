"""What readers find who have the public parts of releases and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import InputError
from tripcloak.ground.folders import PRIVATE, PUBLIC
from tripcloak.ground.manifest import public_part
from tripcloak.ground.progress import Progress, silent
from tripcloak.ledger.difference import Difference
from tripcloak.ledger.facts import Fact, Facts, Term
from tripcloak.ledger.published import PublicTable, read_tables
from tripcloak.ledger.subtracting import Areas, Remainder, Subtraction


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicDifference(Difference):
    """What readers of public parts can prove by subtracting, and what is likely besides.

    Attributes
    ----------
    likely : int
        Further differences below k that hold if nobody was withheld, or drawn elsewhere, in some place.
    notes : tuple of str
        What was taken for granted, and what could not be compared.
    """

    likely: int
    notes: tuple[str, ...]

    @property
    def safe(self) -> bool:
        """Return whether nothing was proven."""
        return not len(self.facts)

    def words(self) -> str:
        """Return the verdict in a sentence.

        >>> nothing = Facts(found=(), complete=False, k=10, people=0, groups=9, atoms=0)
        >>> PublicDifference(releases=(), facts=nothing, likely=2, notes=()).words()
        'Readers of these public files can prove nothing about fewer than 10 people by subtracting; 2 more
        differences are likely to be of fewer.'
        """
        k, found = f"{self.facts.k:,}", len(self.facts)
        what = "nothing" if not found else "1 fact" if found == 1 else f"{found:,} facts"
        whom = f" about fewer than {k} people" if not found else f", each about fewer than {k} people,"
        proven = f"Readers of these public files can prove {what}{whom} by subtracting"
        if not self.likely:
            return f"{proven}."
        more = "1 more difference is" if self.likely == 1 else f"{self.likely:,} more differences are"
        return f"{proven}; {more} likely to be of fewer."

    def left_out(self) -> str | None:
        """Return what was taken for granted, and which releases were not attacked."""
        told = [f"{note[:1].upper()}{note[1:]}." for note in self.notes]
        return " ".join([*told, *filter(None, [super().left_out()])])

    def about(self, fact: Fact) -> str:
        """Return how many people a fact is about, in words: no more than it tells trips of."""
        exactly = super().about(fact)
        return exactly if fact.kind == "people" or fact.people == 1 else f"at most {exactly}"

    def certificate(self, fact: Fact) -> str:
        """Return how a fact follows, in words that a person can recompute."""
        if fact.kind != "between":
            return super().certificate(fact)
        told = sum(term.factor * term.published for term in fact.terms)
        exactly = super().certificate(replace(fact, kind="exact", least=told, most=told))
        if told != fact.least:
            return f"{exactly} as they are told; rounded ones leave {fact.least:,} to {fact.most:,}"
        return f"{exactly} or more, and {fact.most:,} at most, with all that was withheld"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with the certificate of every fact."""
        told = super().to_dict()
        for entry in ("people", "atoms", "complete"):
            del told[entry]
        return {**told, "likely": self.likely, "notes": list(self.notes), "from": "public parts alone"}


def public_alone(folders: Sequence[Path]) -> bool:
    """Return whether public parts alone were given: paths to nothing else, or no private part anywhere."""
    parts = [public_part(folder) for folder in folders]
    if all(part == folder for part, folder in zip(parts, folders, strict=True)):
        return True
    return not any((part.absolute().parent / PRIVATE).is_dir() for part in parts)


def public_difference(
    folders: Sequence[Path], *, k: int | None = None, progress: Progress = silent
) -> PublicDifference:
    """Return what whoever has the public parts of releases learns by adding and subtracting.

    Zones are compared by their outlines. A flow holds all trips between its zones, so that from it all flows
    of others can be subtracted that lie inside: what is left are trips that these others do not tell.
    Releases whose manifests name the same period and segment are taken to be of the same trips, as long as
    their numbers do not contradict it.

    Parameters
    ----------
    folders
        The releases, or their public parts; one alone where it tells its flows by segment, or sums of them.
    k
        The smallest k that any of them promises, if not given.
    """
    if k is not None and k < 2:
        raise InputError(f"facts about fewer than k people are looked for, k being at least 2; got {k}")
    tables: list[PublicTable] = []
    noisy: list[str] = []
    for number, (folder, name) in enumerate(zip(folders, _names(folders), strict=True)):
        progress("reading public parts", number, len(folders))
        found = read_tables(folder, name)
        tables += found
        noisy += [] if found else [name]
    if len(tables) < 2:
        raise InputError(
            "there are not two tables of numbers to compare: give two folders or more, or one that tells its "
            "flows by segment, or sums of them; noisy numbers tell nothing exactly"
        )
    k = min(one.k for one in tables) if k is None else k
    progress("comparing zones by their outlines", 0, None)
    return replace(_Reading(tables, k).found(), noisy=tuple(noisy))


class _Reading:
    """Tables that are subtracted from each other in all ways that their manifests allow."""

    def __init__(self, tables: Sequence[PublicTable], k: int) -> None:
        self.tables, self.k, self.areas = tuple(tables), k, Areas()

    def found(self) -> PublicDifference:
        """Return all that was found."""
        facts: dict[tuple[Term, ...], Fact] = {}
        likely: set[tuple[Any, ...]] = set()
        notes: list[str] = []
        compared = False
        for whole in range(len(self.tables)):
            for family in self._families(whole):
                compared = True
                told = list(Subtraction(self.tables, whole, family, self.areas).remainders())
                against = any(one.impossible for one in told)
                if against and len(family) == 1:
                    notes.append(self._against(whole, family[0]))
                for one in told:
                    if one.proves(self.k) and not against:
                        fact = one.fact(self.tables)
                        facts[fact.terms] = fact
                    elif 0 < abs(one.trips) < self.k and not one.less:
                        likely.add((one.holds, one.parts))
                for fact in () if against else self._of_people(told):
                    facts[fact.terms] = fact
        proven = {frozenset((term.release, term.group) for term in terms) for terms in facts}
        likely = {one for one in likely if frozenset((*one[0], *one[1])) not in proven}
        return PublicDifference(
            releases=self.tables,
            facts=self._facts(list(facts.values())),
            likely=len({frozenset((*holds, *parts)) for holds, parts in likely}),
            notes=(*self._granted(compared), *dict.fromkeys(notes)),
        )

    def _families(self, whole: int) -> Iterator[tuple[int, ...]]:
        """Yield tables that may lie inside one: each, and as many at once as have no trip in common."""
        table = self.tables[whole]
        inside = [
            number
            for number, one in enumerate(self.tables)
            if number != whole and one.coverage.within(table.coverage) and one.total[0] <= table.total[1]
        ]
        yield from ((number,) for number in inside)
        known: set[tuple[int, ...]] = set()
        for first in inside:
            family = [first]
            for number in inside:
                if all(self.tables[number].coverage.apart(self.tables[one].coverage) for one in family):
                    family.append(number)
            known.add(tuple(sorted(family)))
        yield from (family for family in sorted(known) if len(family) > 1)

    def _of_people(self, told: Sequence[Remainder]) -> Iterator[Fact]:
        """Yield how many people of a flow are not in one inside it, where both tell people exactly."""
        for one in told:
            if one.missing or len(one.holds) > 1:
                continue
            whole, row = one.holds[0]
            people = self.tables[whole].people
            for part, inner in one.parts if people is not None else ():
                fewer = self.tables[part].people
                if people is None or fewer is None:
                    continue
                left = int(people[row] - fewer[inner])
                if 0 < left < self.k:
                    terms = (Term(1, whole, row, int(people[row])), Term(-1, part, inner, int(fewer[inner])))
                    yield Fact(kind="people", least=left, most=left, people=left, terms=terms)

    def _facts(self, found: list[Fact]) -> Facts:
        ordered = sorted(found, key=lambda fact: (len(fact.terms), fact.terms))
        groups = sum(len(one.trips) for one in self.tables)
        people = sum(fact.people for fact in found)
        return Facts(found=tuple(ordered), complete=False, k=self.k, people=people, groups=groups, atoms=0)

    def _granted(self, compared: bool) -> tuple[str, ...]:
        if not compared:
            return ("by what their manifests say no release lies inside another, so nothing was subtracted",)
        return (
            "releases whose manifests name the same period and segment are taken to be of the same trips",
        )

    def _against(self, whole: int, part: int) -> str:
        one, other = self.tables[part].name, self.tables[whole].name
        return f"not all trips of {one} are in {other}: its numbers are larger in some places"


def _names(folders: Sequence[Path]) -> list[str]:
    """Return what releases are called: the folder that holds the public part, or paths where names repeat."""
    parts = [public_part(folder).resolve() for folder in folders]
    short = [part.parent.name if part.name == PUBLIC else part.name for part in parts]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]
