"""One release per segment, and who pays how much for being safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tripcloak.algorithms.base import Progress, silent
from tripcloak.errors import ImpossibleRequestError, InputError
from tripcloak.io.folder import Parts, refuse_if_taken, staged
from tripcloak.metrics import measure
from tripcloak.report.fairness import fairness_csv, fairness_markdown, fairness_page
from tripcloak.trips.segments import Segment, SegmentBy
from tripcloak.workflow.anonymise import Order, Outcome, anonymise
from tripcloak.workflow.fairness import Burden, Fairness, Sample
from tripcloak.workflow.reading import read_matrix, segments_of

FAIRNESS = Parts("fairness table", files=("fairness.json", "fairness.csv", "fairness.md", "fairness.html"))


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentOutcomes:
    """What came of an order by segment; for the eyes of the data owner.

    Attributes
    ----------
    released : dict
        Name of the segment to what came of it.
    withheld : tuple of str
        Segments that cannot be made safe on their own: named, and not shown.
    fairness : Fairness
        The loss of every segment, as it is and at equal size.
    """

    released: dict[str, Outcome]
    withheld: tuple[str, ...]
    fairness: Fairness
    out: Path

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``tripcloak anonymise --segment ... --json`` prints."""
        return {
            "segments": {name: outcome.to_dict() for name, outcome in self.released.items()},
            "withheld": list(self.withheld),
            "fairness": self.fairness.to_dict(),
            "out": str(self.out),
        }


def anonymise_segments(
    order: Order, by: Sequence[SegmentBy], *, draws: int = 3, progress: Progress = silent
) -> SegmentOutcomes:
    """Return what came of an order for every segment; the releases are in folders of their own.

    Nobody is in two segments unless their trips are, so the releases do not differ by single people.

    Parameters
    ----------
    by
        What parts the input.
    draws
        Samples of equal size that are drawn from every segment, to see what is left of the differences
        when all segments are as small as the smallest; 0 leaves that out.
    """
    if order.algorithm.noisy:
        raise InputError(
            f"{order.algorithm.name} hides a traveller once, and segments would tell of them once each; "
            "leave out --segment, or choose a method of k-anonymity"
        )
    segments = segments_of(order.source, by, memory=order.memory)
    folders = {one.name: folder_name(one) for one in segments}
    if len(set(folders.values())) < len(segments):
        raise InputError("two segments have names that differ in punctuation only; mend the column first")
    refuse_if_taken(order.out, force=order.force, parts=FAIRNESS)
    for folder in folders.values():
        refuse_if_taken(order.out / folder, force=order.force)
    released: dict[str, Outcome] = {}
    withheld: list[str] = []
    for segment in segments:
        source = replace(order.source, segment=segment.values)
        part = replace(order, source=source, out=order.out / folders[segment.name])
        try:
            released[segment.name] = anonymise(part, _about(segment.name, progress))
        except ImpossibleRequestError:
            withheld.append(segment.name)
    if not released:
        raise ImpossibleRequestError(
            "not possible: no segment can be made safe on its own. Part the input less finely (--segment), "
            "or ask for less"
        )
    fairness = _fairness(order, segments, released, draws, progress)
    _write(order, fairness, tuple(withheld))
    return SegmentOutcomes(released=released, withheld=tuple(withheld), fairness=fairness, out=order.out)


def folder_name(segment: Segment) -> str:
    """Return a segment's name as the name of a folder.

    >>> folder_name(Segment({"sex": "F", "age:10": "20-29"}, 5, None))
    'sex=F,age=20-29'
    """
    plain = segment.name.replace(", ", ",")
    return "".join(letter if letter.isalnum() or letter in "=,-_." else "_" for letter in plain)[:150]


def _about(name: str, progress: Progress) -> Progress:
    return lambda what, done, total: progress(f"{name}: {what}", done, total)


def _fairness(
    order: Order, segments: Sequence[Segment], released: dict[str, Outcome], draws: int, progress: Progress
) -> Fairness:
    """Return the loss of every released segment, as it is and in samples of the smallest one's size."""
    shown = [segment for segment in segments if segment.name in released]
    sizes = [segment.trips if segment.travellers is None else segment.travellers for segment in shown]
    equal = _equal_size(sizes, [released[segment.name] for segment in shown])
    burdens = []
    for done, (segment, size) in enumerate(zip(shown, sizes, strict=True)):
        progress("drawing samples of equal size", done, len(shown))
        outcome = released[segment.name]
        if size == equal and draws:
            samples = [Sample.of(outcome.metrics)]
        else:
            seeds = range(draws if size > equal else 0)
            drawn = [_sampled(order, segment, (equal, seed)) for seed in seeds]
            samples = [one for one in drawn if one is not None]
        burdens.append(Burden.of(segment, outcome, samples))
    return Fairness(tuple(burdens), equal if draws else None)


def _equal_size(sizes: Sequence[int], outcomes: Sequence[Outcome]) -> int:
    """Return the size of the smallest segment that still has more than one released flow.

    Where a segment is so small that all of it is one flow, samples of its size are all alike.
    """
    telling = [size for size, outcome in zip(sizes, outcomes, strict=True) if outcome.release.n_groups > 1]
    return min(telling or sizes)


def _sampled(order: Order, segment: Segment, sample: tuple[int, int]) -> Sample | None:
    """Return the loss of a sample of a segment's travellers; None where it cannot be made safe."""
    source = replace(order.source, segment=segment.values, sample=sample)
    reading = read_matrix(source, order.place, memory=order.memory, folder=order.folder)
    matrix = reading.trips.matrix
    try:
        release = order.algorithm.anonymise(matrix)
    except ImpossibleRequestError:
        return None
    return Sample.of(measure(matrix, release))


def _write(order: Order, fairness: Fairness, withheld: tuple[str, ...]) -> None:
    import json

    facts = {**fairness.to_dict(), "withheld": list(withheld)}
    texts = (json.dumps(facts, indent=2), fairness_csv(facts), fairness_markdown(facts), fairness_page(facts))
    with staged(order.out, force=order.force, parts=FAIRNESS) as staging:
        for name, text in zip(FAIRNESS.files, texts, strict=True):
            (staging / name).write_text(text, encoding="utf-8")
