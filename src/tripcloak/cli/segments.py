"""What `tripcloak anonymise --segment` does and prints."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table

if TYPE_CHECKING:
    from tripcloak.trips.segments import SegmentBy
    from tripcloak.workflow.anonymise import Order


def release_segments(order: "Order", by: Sequence["SegmentBy"], *, draws: int, json: bool) -> None:
    """Make one release per segment and print who pays how much."""
    from tripcloak.report.fairness import fairness_words
    from tripcloak.workflow.segments import anonymise_segments

    with progress_on_stderr() as progress:
        outcomes = anonymise_segments(order, by, draws=draws, progress=progress)
    if json:
        print_json(outcomes.to_dict())
        return
    facts = {**outcomes.fairness.to_dict(), "withheld": list(outcomes.withheld)}
    show(table("One release per segment", COLUMNS, [_row(segment) for segment in facts["segments"]]))
    for sentence in fairness_words(facts):
        show(sentence)
    show(f"Publish the release folders in {outcomes.out}; keep the private folders and fairness.* inside.")


COLUMNS = ("segment", "people", "zones", "G", "GDM (m)", "S", "G at equal size")


def _row(segment: dict[str, Any]) -> tuple[str, ...]:
    people = segment["trips"] if segment["travellers"] is None else segment["travellers"]
    metres = segment["GDM"]
    return (
        segment["segment"],
        number(people),
        f"{segment['origins']}x{segment['destinations']}",
        f"{segment['G']:,.0f}",
        "-" if metres is None else f"{metres:,.0f}",
        f"{segment['S']:.1%}",
        "-" if segment["G_at_equal_size"] is None else f"{segment['G_at_equal_size']:,.0f}",
    )
