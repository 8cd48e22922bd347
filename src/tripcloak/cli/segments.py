"""What `tripcloak anonymise --segment` does and prints."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table

if TYPE_CHECKING:
    from tripcloak.flows.anonymise import AnonymisationRequest
    from tripcloak.records.segments import SegmentBy


def release_segments(
    request: "AnonymisationRequest", by: Sequence["SegmentBy"], *, draws: int, json: bool
) -> None:
    """Make one release per segment and print who pays how much."""
    from tripcloak.fairness.page import fairness_words
    from tripcloak.fairness.segments import anonymise_segments

    with progress_on_stderr() as progress:
        outcomes = anonymise_segments(request, by, draws=draws, progress=progress)
    if json:
        print_json(outcomes.to_dict())
        return
    facts = outcomes.facts()
    rows = facts["segments"]
    unit = "trips" if rows[0]["travellers"] is None else "travellers"
    columns = ("segment", "people" if unit == "travellers" else unit, *COLUMNS)
    show(table("One release per segment", columns, [_row(row, unit) for row in rows]))
    for sentence in fairness_words(facts):
        show(sentence)
    for note in outcomes.notes:
        show(f"Note: {note}")
    show(
        f"Publish the folders release in {outcomes.out}/*; keep the folders private and the files "
        f"fairness.* (open {outcomes.out / 'fairness.html'}) inside."
    )


COLUMNS = ("zones", "G", "GDM (m)", "S", "G at equal size")


def _row(segment: dict[str, Any], unit: str) -> tuple[str, ...]:
    metres, equal = segment["GDM"], segment["G_at_equal_size"]
    return (
        segment["segment"],
        number(segment[unit]),
        f"{segment['origins']}x{segment['destinations']}",
        f"{segment['G']:,.0f}",
        "-" if metres is None else f"{metres:,.0f}",
        f"{segment['S']:.1%}",
        "-" if equal is None else f"{equal:,.0f}",
    )
