"""What a chain tells of each release: its state, what it covers, and who approved of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from tripcloak.ground.errors import InputError
from tripcloak.ledger.store.chain import Entry
from tripcloak.ledger.store.sameness import OF, PEOPLE

Verdict = Literal["approve", "subject-to-change", "reject"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
State = Literal["prepared", "released", "abandoned", "withdrawn"]

WORDS: Mapping[State, str] = {
    "prepared": "being written, or left so by a run that was stopped: counts as published",
    "released": "written",
    "abandoned": "never written",
    "withdrawn": "withdrawn; what was published stays known, and counts",
}


@dataclass(frozen=True)
class Approval:
    """A verdict on a release that somebody signed."""

    by: str
    key: str
    verdict: Verdict
    time: str
    comment: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return vars(self).copy()


@dataclass(frozen=True, eq=False)
class RecordedRelease:
    """One release of a ledger.

    Attributes
    ----------
    number : int
        Its place among the releases, from 1.
    prepared : Entry
        The entry that was made before it was written, with all that was published.
    released, abandoned, withdrawn : Entry, optional
        What became of it.
    approvals : tuple of Approval
        The verdicts on it in their order, also those that were given anew.
    """

    number: int
    prepared: Entry
    released: Entry | None = None
    abandoned: Entry | None = None
    withdrawn: Entry | None = None
    approvals: tuple[Approval, ...] = field(default=())

    def __repr__(self) -> str:
        return f"<RecordedRelease {self.number}: {self.name}, {self.state}>"

    @property
    def name(self) -> str:
        """Return what it is called."""
        return str(self.prepared.content["name"])

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what was noted of it: method, promise, tiling, what it covers."""
        return self.prepared.content

    @property
    def state(self) -> State:
        """Return what became of it."""
        if self.abandoned is not None:
            return "abandoned"
        if self.withdrawn is not None:
            return "withdrawn"
        return "prepared" if self.released is None else "released"

    @property
    def counts(self) -> bool:
        """Return whether readers may have it: all but what was never published."""
        never = self.withdrawn is not None and self.withdrawn.content["never_published"]
        return self.abandoned is None and not never

    @property
    def of_trajectories(self) -> bool:
        """Return whether it is one of trajectories, and not of flows."""
        return bool(self.facts["told_by"].get(OF) == PEOPLE)

    @property
    def standing(self) -> tuple[Approval, ...]:
        """Return the verdicts that stand: the last one of every key."""
        return tuple({one.key: one for one in self.approvals}.values())

    @property
    def approvals_needed(self) -> int:
        """Return how many people must approve before it may be published."""
        return int(self.facts["approvals_needed"])

    @property
    def may_be_published(self) -> bool:
        """Return whether it is written, nobody objects, and enough people approve."""
        approving = [one for one in self.standing if one.verdict == "approve"]
        nobody_objects = len(approving) == len(self.standing)
        return self.state == "released" and nobody_objects and len(approving) >= self.approvals_needed

    @property
    def waiting(self) -> int | None:
        """Return how many erased people were still in numbers that stood once it was out; None of noise."""
        told = self.facts.get("waiting")
        return None if told is None else int(told["people"])

    def approval_words(self) -> str:
        """Return how many approve, and what stands against it."""
        return ", ".join([self._approving(), *self._against()])

    def _approving(self) -> str:
        approving = sum(one.verdict == "approve" for one in self.standing)
        return f"{approving} of {self.approvals_needed}" if self.approvals_needed else f"{approving}"

    def _against(self) -> list[str]:
        against = [one.verdict for one in self.standing if one.verdict != "approve"]
        return [f"{against.count(one)} {one}" for one in VERDICTS if one in against]

    def words(self) -> str:
        """Return where it stands in the ledger, and whether it may be published."""
        told = f"Recorded in the ledger as release {self.number} ({self.name}).{waiting_words(self.waiting)}"
        if self.may_be_published:
            return f"{told} It may be published."
        if self.state != "released":
            return f"{told} It is {self.state}, and not to be published."
        counted = ", ".join([f"{self._approving()} approve", *self._against()])
        return f"{told} It may NOT be published yet: {counted}."

    def in_short(self) -> dict[str, Any]:
        """Return the same for JSON."""
        return {
            "number": self.number,
            "name": self.name,
            "approvals_needed": self.approvals_needed,
            "may_be_published": self.may_be_published,
            "waiting_for_company": self.waiting,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak ledger show --json`` prints."""
        return {
            "number": self.number,
            "name": self.name,
            "time": self.prepared.time,
            "state": self.state,
            "counts": self.counts,
            **{name: value for name, value in self.facts.items() if name not in ("name", "release", "data")},
            "files": None if self.released is None else self.released.content["files"],
            "withdrawn": None if self.withdrawn is None else self.withdrawn.content["reason"],
            "approvals": [one.to_dict() for one in self.approvals],
            "may_be_published": self.may_be_published,
        }


def waiting_words(waiting: int | None) -> str:
    """Return that erased people wait for company, if any do.

    >>> waiting_words(0), waiting_words(1)
    ('', ' 1 erased person waits for company: until k have left a flow, its old number stands.')
    """
    if not waiting:
        return ""
    who = "1 erased person waits" if waiting == 1 else f"{waiting:,} erased people wait"
    return f" {who} for company: until k have left a flow, its old number stands."


def releases_of(entries: Sequence[Entry]) -> tuple[RecordedRelease, ...]:
    """Return the releases that a chain tells of, in their order."""
    found: dict[int, dict[str, Any]] = {}
    for entry in entries:
        number = entry.content.get("release")
        if entry.kind == "prepared":
            found[entry.content["release"]] = {"number": number, "prepared": entry, "approvals": ()}
        elif entry.kind in ("released", "abandoned", "withdrawn"):
            found[entry.content["release"]][entry.kind] = entry
        elif entry.kind == "approval":
            told = {name: entry.content[name] for name in ("by", "key", "verdict", "comment")}
            found[entry.content["release"]]["approvals"] += (Approval(time=entry.time, **told),)
    return tuple(RecordedRelease(**one) for one in found.values())


def find_release(releases: Sequence[RecordedRelease], named: str) -> RecordedRelease:
    """Return the release of a number, a name, or a folder; the last one of several of one name.

    Raises
    ------
    InputError
        There is none.
    """
    folder = named.rstrip("/").rsplit("/", 1)[-1]
    for fits in (lambda one: str(one.number) == named, lambda one: one.name == folder):
        matching = [one for one in releases if fits(one)]
        if matching:
            return matching[-1]
    known = ", ".join(f"{one.number} ({one.name})" for one in releases[-20:]) or "none yet"
    raise InputError(
        f"the ledger holds no release {named!r}; it holds: {known} (see `tripcloak ledger list DIR`)"
    )
