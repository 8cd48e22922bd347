"""Fairness: what safety costs each segment, and how much of that is its size alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from tripcloak.records.segments import Segment

if TYPE_CHECKING:
    from tripcloak.flows.anonymise import AnonymisationOutcome, MadeRelease


class SegmentSample(NamedTuple):
    """The loss of one release: tiles, metres, and the share that is withheld."""

    G: float
    GDM: float | None
    S: float

    @classmethod
    def of(cls, measures: Mapping[str, Any]) -> SegmentSample:
        """Return what of the measures is loss."""
        return cls(measures["G"], measures["GDM_mean"], measures["S"])


class Burden(NamedTuple):
    """What one segment pays: its size, its matrix, its loss, and its mean loss at equal size.

    A segment smaller than that size has no loss at equal size.
    """

    name: str
    trips: int
    travellers: int | None
    groups: int
    zones: tuple[int, int]
    loss: SegmentSample
    at_equal_size: SegmentSample | None

    @classmethod
    def of(
        cls,
        segment: Segment,
        outcome: AnonymisationOutcome | MadeRelease,
        samples: Sequence[SegmentSample],
    ) -> Burden:
        """Return the burden of a segment, given the losses of samples of it."""
        release = outcome.release
        return cls(
            name=segment.name,
            trips=segment.trips,
            travellers=segment.travellers,
            groups=release.n_groups,
            zones=(release.zone_numbers[0], release.zone_numbers[1]),
            loss=SegmentSample.of(outcome.measures),
            at_equal_size=_mean(samples) if samples else None,
        )


@dataclass(frozen=True)
class Fairness:
    """The burdens of all released segments, and the size at which they are compared.

    Segments smaller than that size take no part in the comparison at equal size.

    Examples
    --------
    >>> fine, half, coarse = (SegmentSample(g, None, 0.1) for g in (20.0, 40.0, 80.0))
    >>> few = Burden("sex=M", 500, 50, 9, (3, 3), coarse, coarse)
    >>> many = Burden("sex=F", 900, 90, 30, (9, 9), fine, half)
    >>> found = Fairness((few, many), 50)
    >>> found.pays_most.name, found.times, found.times_at_equal_size, found.explained_by_size
    ('sex=M', 4.0, 2.0, 0.5)
    >>> found.pays_least.name, found.times_of_sampled
    ('sex=F', 4.0)
    """

    burdens: tuple[Burden, ...]
    equal_size: int | None

    @property
    def pays_most(self) -> Burden:
        """Return the segment with the largest loss."""
        return max(self.burdens, key=lambda one: one.loss.G)

    @property
    def pays_least(self) -> Burden:
        """Return the segment with the smallest loss."""
        return min(self.burdens, key=lambda one: one.loss.G)

    @property
    def times(self) -> float:
        """Return how many times the loss of the best-off segment the worst-off one has."""
        return _times([one.loss.G for one in self.burdens])

    @property
    def times_of_sampled(self) -> float | None:
        """Return the same among the segments that take part in the comparison at equal size."""
        return _times([one.loss.G for one in self._sampled]) if len(self._sampled) > 1 else None

    @property
    def times_at_equal_size(self) -> float | None:
        """Return the same for samples of equal size; None where fewer than two segments were sampled."""
        losses = [one.at_equal_size.G for one in self._sampled if one.at_equal_size is not None]
        return _times(losses) if len(losses) > 1 else None

    @property
    def explained_by_size(self) -> float | None:
        """Return the share of the difference that goes when all segments are of one size; 0 to 1.

        Losses differ by factors, so the share is taken on their logarithms, among the segments that were
        sampled.
        """
        own, equal = self.times_of_sampled, self.times_at_equal_size
        if own is None or equal is None or own <= 1:
            return None
        return min(1.0, max(0.0, 1 - math.log(equal) / math.log(own)))

    @property
    def _sampled(self) -> list[Burden]:
        return [one for one in self.burdens if one.at_equal_size is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "segments": [
                {
                    "segment": one.name,
                    "trips": one.trips,
                    "travellers": one.travellers,
                    "groups": one.groups,
                    "origins": one.zones[0],
                    "destinations": one.zones[1],
                    **one.loss._asdict(),
                    **{
                        f"{name}_at_equal_size": getattr(one.at_equal_size, name, None)
                        for name in SegmentSample._fields
                    },
                }
                for one in self.burdens
            ],
            "equal_size": self.equal_size,
            "pays_most": self.pays_most.name,
            "pays_least": self.pays_least.name,
            "times": self.times,
            "times_of_sampled": self.times_of_sampled,
            "times_at_equal_size": self.times_at_equal_size,
            "explained_by_size": self.explained_by_size,
        }


def _mean(samples: Sequence[SegmentSample]) -> SegmentSample:
    metres = [one.GDM for one in samples if one.GDM is not None]
    return SegmentSample(
        G=fmean(one.G for one in samples),
        GDM=fmean(metres) if metres else None,
        S=fmean(one.S for one in samples),
    )


def _times(losses: Sequence[float]) -> float:
    return max(losses) / min(losses)
