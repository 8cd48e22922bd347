"""One release per segment, and who pays how much for being safe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tripcloak.fairness.burden import Burden, Fairness, SegmentSample
from tripcloak.fairness.page import INTERNAL, fairness_csv, fairness_markdown, fairness_page
from tripcloak.flows.anonymise import (
    AnonymisationOutcome,
    AnonymisationRequest,
    MadeRelease,
    ReleaseRequest,
    anonymise,
    make_release,
    write_release,
)
from tripcloak.flows.measures import measure
from tripcloak.flows.reading.matrix import opened_by_segment, read_matrix
from tripcloak.ground.errors import EmptyInputError, ImpossibleRequestError, InputError, TooFewError
from tripcloak.ground.folders import PUBLIC, FolderParts, refuse_if_taken, staged, write_json
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.records.segments import Segment, SegmentBy

if TYPE_CHECKING:
    from tripcloak.flows.reading.matrix import MatrixReading, Opened

Request = TypeVar("Request", bound=ReleaseRequest)
Made = TypeVar("Made", AnonymisationOutcome, MadeRelease)

MOST_SEGMENTS = 200
"""Each segment is read, solved, audited and drawn from."""

FAIRNESS = FolderParts(
    "fairness table", files=("fairness.json", "fairness.csv", "fairness.md", "fairness.html")
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentOutcomes:
    """What came of a request by segment; for the eyes of the data owner.

    Attributes
    ----------
    released : dict
        Name of the segment to what came of it.
    withheld : dict
        Segments that cannot be made safe on their own, and why: named, and not shown.
    fairness : Fairness
        The loss of every segment, as it is and at equal size.
    notes : tuple of str
        What a reader should know about how the input was read, over all segments.
    """

    released: dict[str, AnonymisationOutcome]
    withheld: dict[str, str]
    fairness: Fairness
    notes: tuple[str, ...]
    out: Path

    def __repr__(self) -> str:
        return f"<SegmentOutcomes: {', '.join(self.released)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak anonymise --segment ... --json`` prints."""
        return {
            "segments": {name: outcome.to_dict() for name, outcome in self.released.items()},
            "withheld": self.withheld,
            "fairness": self.fairness.to_dict(),
            "notes": list(self.notes),
            "out": str(self.out),
        }

    def facts(self) -> dict[str, Any]:
        """Return what the fairness table and its words are made of."""
        return {**self.fairness.to_dict(), "withheld": self.withheld}


def anonymise_segments(
    request: AnonymisationRequest,
    by: Sequence[SegmentBy],
    *,
    draws: int = 3,
    once_read: Callable[[str, MatrixReading], None] = lambda name, reading: None,
    progress: Progress = silent,
) -> SegmentOutcomes:
    """Return what came of a request for every segment; the releases are in folders of their own.

    Nobody is in two segments unless their trips are, so the releases do not differ by single people.

    Parameters
    ----------
    by
        What parts the input.
    draws
        Samples of equal size that are drawn from every segment, to see what is left of the differences
        when all segments are as small as the smallest; 0 leaves that out.
    once_read
        Called with the name of each segment and what was read of it, before anything is made.
    """
    _refuse_noise(request)
    refuse_if_taken(request.out, force=request.force, parts=FAIRNESS)
    with opened_by_segment(request.source, by, memory=request.memory, folder=request.folder) as (
        within,
        segments,
    ):
        folders = _free_folders(segments, request.out, force=request.force)
        orders = {
            one.name: replace(
                _order(request, one), out=folders[one.name], once_read=partial(once_read, one.name)
            )
            for one in segments
        }
        released, withheld = _released(orders, within, progress, anonymise)
        fairness = _fairness(segments, released, _Sampler(orders, within, draws, progress))
    outcomes = SegmentOutcomes(
        released=released,
        withheld=withheld,
        fairness=fairness,
        notes=(*_all_notes(released), *_left_over(folders, withheld)),
        out=request.out,
    )
    _write(request.out, outcomes.facts(), force=request.force)
    return outcomes


@dataclass(frozen=True, kw_only=True, eq=False)
class MadeSegments:
    """A release of every segment, in memory alone; for the eyes of the data owner.

    Attributes are those of :class:`SegmentOutcomes`.
    """

    segments: tuple[Segment, ...]
    released: dict[str, MadeRelease]
    withheld: dict[str, str]
    fairness: Fairness
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<MadeSegments: {', '.join(self.released)}>"


def make_segments(
    request: ReleaseRequest, by: Sequence[SegmentBy], *, draws: int = 3, progress: Progress = silent
) -> MadeSegments:
    """Return the releases of all segments, as :func:`anonymise_segments` does, and write nothing."""
    _refuse_noise(request)
    with opened_by_segment(request.source, by, memory=request.memory, folder=request.folder) as (
        within,
        segments,
    ):
        _refuse_many(segments)
        orders = {one.name: _order(request, one) for one in segments}
        released, withheld = _released(orders, within, progress, make_release)
        fairness = _fairness(segments, released, _Sampler(orders, within, draws, progress))
    return MadeSegments(
        segments=tuple(segments),
        released=released,
        withheld=withheld,
        fairness=fairness,
        notes=tuple(_all_notes(released)),
    )


def write_segments(made: MadeSegments, out: Path, *, force: bool = False) -> dict[str, Path]:
    """Write the releases of all segments, each to a folder of its own, and return the folders by name."""
    refuse_if_taken(out, force=force, parts=FAIRNESS)
    folders = _free_folders(made.segments, out, force=force)
    for name, one in made.released.items():
        write_release(one, folders[name], force=force)
    _write(out, {**made.fairness.to_dict(), "withheld": made.withheld}, force=force)
    return {name: folders[name] for name in made.released}


def _refuse_noise(request: ReleaseRequest) -> None:
    if request.method.noisy:
        raise InputError(
            f"{request.method.name} hides a traveller once, and segments would tell of them once each; "
            f"leave out {spelt('segment')}, or choose a method of k-anonymity"
        )


def folder_name(segment: Segment) -> str:
    """Return a segment's name as the name of a folder.

    >>> folder_name(Segment({"sex": "F", "age:10": "20-29"}, 5, None))
    'sex=F,age=20-29'
    """
    plain = segment.name.replace(", ", ",")
    return "".join(letter if letter.isalnum() or letter in "=,-_." else "_" for letter in plain)[:150]


def _refuse_many(segments: Sequence[Segment]) -> None:
    if len(segments) > MOST_SEGMENTS:
        raise InputError(
            f"the input falls into more than {MOST_SEGMENTS} segments; give numbers a width of bins, as in "
            f"{spelt('segment', 'age:10')}, or part it by other columns"
        )


def _free_folders(segments: Sequence[Segment], out: Path, *, force: bool) -> dict[str, Path]:
    """Return the folder of every segment, or raise where one is not free or two would be the same."""
    _refuse_many(segments)
    folders = {one.name: out / folder_name(one) for one in segments}
    if len(set(folders.values())) < len(segments):
        raise InputError("two segments have names that differ in punctuation only; mend the column first")
    for folder in folders.values():
        refuse_if_taken(folder, force=force)
    return folders


def _order(request: Request, segment: Segment) -> Request:
    """Return the request of one segment."""
    return replace(request, source=replace(request.source, segment=segment.values))


def _released(
    orders: Mapping[str, Request],
    within: Opened,
    progress: Progress,
    release: Callable[[Request, Progress, Opened], Made],
) -> tuple[dict[str, Made], dict[str, str]]:
    """Return what came of every segment that can be released, and why the others cannot."""
    released: dict[str, Made] = {}
    withheld: dict[str, str] = {}
    for name, part in orders.items():
        try:
            released[name] = release(part, _about(name, progress), within)
        except TooFewError as error:
            withheld[name] = f"taken whole, it does not hold {error.needs}"
        except (ImpossibleRequestError, EmptyInputError) as error:
            withheld[name] = str(error)
        except InputError as error:
            # What the first segment meets is most likely nothing of its own.
            raise type(error)(f"{name}: {error}" if released or withheld else str(error)) from error
    if not released:
        raise ImpossibleRequestError(
            "not possible: no segment can be made safe on its own. Part the input less finely "
            f"({spelt('segment')}), or ask for less"
        )
    return released, withheld


def _about(name: str, progress: Progress) -> Progress:
    return lambda what, done, total: progress(f"{name}: {what}", done, total)


def _all_notes(released: Mapping[str, Made]) -> list[str]:
    """Return the notes on all segments; one that several have is told once."""
    told: dict[str, list[str]] = {}
    for name, outcome in released.items():
        for note in outcome.notes:
            told.setdefault(note, []).append(name)
    return [
        note if len(names) == len(released) else f"{', '.join(names)}: {note}" for note, names in told.items()
    ]


def _left_over(folders: Mapping[str, Path], withheld: Mapping[str, str]) -> list[str]:
    """Return a warning for every withheld segment of which an earlier run has left a release."""
    left = [folders[name] for name in withheld if (folders[name] / PUBLIC).exists()]
    return [f"{folder} holds a release of an earlier run, which this one did not replace" for folder in left]


class _Sampler(NamedTuple):
    """Draws samples of a segment's travellers and makes releases of them, to see their loss."""

    orders: Mapping[str, ReleaseRequest]
    within: Opened
    draws: int
    progress: Progress

    def losses(self, segment: Segment, size: int) -> list[SegmentSample]:
        """Return the losses of samples of this size; those that cannot be made safe are left out."""
        drawn = [self._loss(segment, (size, seed)) for seed in range(self.draws)]
        return [one for one in drawn if one is not None]

    def _loss(self, segment: Segment, sample: tuple[int, int]) -> SegmentSample | None:
        request = self.orders[segment.name]
        told = _about(f"{segment.name}, sample {sample[1] + 1} of {self.draws}", self.progress)
        source = replace(request.source, sample=sample)
        reading = read_matrix(
            source,
            request.zoning,
            promise=request.method.promise,
            memory=request.memory,
            within=self.within,
            progress=told,
        )
        matrix = reading.trips.matrix
        try:
            release = request.method.anonymise(matrix, told)
        except ImpossibleRequestError:
            return None
        return SegmentSample.of(measure(matrix, release))


def _fairness(segments: Sequence[Segment], released: Mapping[str, Made], sampler: _Sampler) -> Fairness:
    """Return the loss of every released segment, as it is and in samples of the smallest one's size."""
    shown, outcomes = [one for one in segments if one.name in released], list(released.values())
    sizes = [segment.trips if segment.travellers is None else segment.travellers for segment in shown]
    equal = _equal_size(sizes, outcomes)
    burdens = []
    for segment, size, outcome in zip(shown, sizes, outcomes, strict=True):
        samples: list[SegmentSample] = []
        if sampler.draws and size == equal:
            samples = [SegmentSample.of(outcome.measures)]
        elif len(shown) > 1 and size > equal:
            samples = sampler.losses(segment, equal)
        burdens.append(Burden.of(segment, outcome, samples))
    return Fairness(tuple(burdens), equal if sampler.draws else None)


def _equal_size(sizes: Sequence[int], outcomes: Sequence[Made]) -> int:
    """Return the size of the smallest segment that still has more than one released flow.

    Where a segment is so small that all of it is one flow, samples of its size are all alike.
    """
    telling = [size for size, outcome in zip(sizes, outcomes, strict=True) if outcome.release.n_groups > 1]
    return min(telling or sizes)


def _write(out: Path, facts: Mapping[str, Any], *, force: bool) -> None:
    texts = {
        "fairness.csv": fairness_csv(facts),
        "fairness.md": fairness_markdown(facts),
        "fairness.html": fairness_page(facts),
    }
    with staged(out, force=force, parts=FAIRNESS) as staging:
        for name in FAIRNESS.files:
            (staging / name).touch(mode=0o600)
        write_json(staging / "fairness.json", {"internal": INTERNAL, **facts})
        for name, text in texts.items():
            (staging / name).write_text(text, encoding="utf-8")
