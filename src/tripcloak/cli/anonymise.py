"""tripcloak anonymise."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.configuration import echo_configuration
from tripcloak.cli.export import show_exports
from tripcloak.cli.options import Also, Force, Given, Inputs, Json, Report, takes
from tripcloak.cli.report import refuse_report, show_report, written_report
from tripcloak.cli.screen import (
    cleaning_lines,
    cleaning_rows,
    number,
    print_json,
    progress_on_stderr,
    show,
    show_signed,
    table,
    tell,
    warn,
    where_and_when,
)
from tripcloak.flows.keywords import flow_method, keywords, segments, tables_wanted, zoning
from tripcloak.flows.protection import round_to
from tripcloak.ground.memory import fail_rather_than_be_killed
from tripcloak.pages.presenting import presented
from tripcloak.records.keywords import signing_key, trip_source

if TYPE_CHECKING:
    from tripcloak.flows.anonymise import AnonymisationOutcome, AnonymisationRequest
    from tripcloak.flows.reading.matrix import MatrixReading
    from tripcloak.flows.release import Bound
    from tripcloak.ground.keys import SigningKey
    from tripcloak.ground.memory import Memory as MemoryLimit
    from tripcloak.ground.progress import Progress
    from tripcloak.ledger.store import Ledger, RecordedRelease
    from tripcloak.records.files.frames import Input
    from tripcloak.records.segments import SegmentBy


@takes(lambda: keywords("anonymise"))
def command(
    given: Given,
    inputs: Inputs,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the release.")],
    report: Report = False,
    also: Also = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a k-anonymous release of trips, check it, and write it to a folder.

    The methods laplace, inftda and noisycut make a differentially private one instead, which knows no k.

    DIR/release may be published; DIR/private must stay inside.

    [bold]Examples[/bold]

      tripcloak anonymise trips.parquet --k 10 --out out

      tripcloak anonymise 'rides/*.csv.gz' --preset citibike --unit trips --hierarchy h3:9 --out out

      tripcloak anonymise od.csv --hierarchy dendrogram --zones tracts.geojson --out out --json

      tripcloak anonymise trips.parquet --out out --sign publisher.key

      tripcloak anonymise trips.parquet --with-margins --with-levels 8,6 --out out

      tripcloak anonymise june.parquet --zones-from may --out june

      tripcloak anonymise trips.parquet --out out --ledger ledger

      tripcloak anonymise trips.parquet --out out --title 'Trips in May' --names places --report

      tripcloak anonymise trips.parquet --out out --also gpkg --also omx
    """
    from tripcloak.exporting.beside import Exports
    from tripcloak.flows.anonymise import AnonymisationRequest

    exports = Exports.of(also or (), "flows")
    zones = zoning(given)
    method = flow_method(given, zones.kept)
    request = AnonymisationRequest(
        source=trip_source(inputs, given),
        zoning=zones,
        method=method,
        publish=given["publish"],
        round_to=round_to(given, method),
        tables=tables_wanted(given),
        **presented(given),
        out=out,
        memory=given["memory"],
        engine=given["engine"],
        master=given["master"],
        force=force,
    )
    by, key, ledger = segments(given), signing_key(given), ledger_given(given)
    tell_size(request)
    fail_rather_than_be_killed()
    if by and not given["segment_joint"]:
        refuse_report(report)
        exports.refuse_several()
        release_segments(request, by, draws=given["draws"], key=key, json=json)
        return
    with progress_on_stderr() as progress:
        told = replace(
            request,
            every_segment=by,
            where_safe=given["segment_where_safe"],
            once_read=_warn if json else _tell,
        )
        outcome, recorded = _made(told, ledger, given, progress)
        sign([out], request.source.paths, request.memory, key, progress)
    written = written_report(out, force=force) if report else None
    exported = exports.write(out, force=force)
    echo_configuration(out / "private")
    if json:
        more = in_ledger(recorded)
        more |= {"exports": [one.to_dict() for one in exported]} if exported else {}
        print_json(outcome.to_dict() | more)
    else:
        _show(outcome, waits=recorded is not None and not recorded.may_be_published)
        show_signed(key)
        show(*([] if recorded is None else [recorded.words()]))
        if written is not None:
            show_report(written)
        show_exports(exported)


def in_ledger(recorded: "RecordedRelease | None") -> dict[str, Any]:
    """Return what a ledger has of a release, for JSON."""
    return {} if recorded is None else {"ledger": recorded.in_short()}


def tell_size(request: "AnonymisationRequest") -> None:
    """Say on stderr, before anything is read, what a large input will take."""
    from tripcloak.engines.choice import Engine
    from tripcloak.flows.resuming import expected_size
    from tripcloak.ground.memory import Budget

    engine = Engine(request.engine, Budget.of(request.memory), master=request.master)
    words = expected_size(request.source, engine)
    tell(*([] if words is None else [f"{words}."]))


def ledger_given(given: Given) -> "Ledger | None":
    """Return the ledger that the release is to be recorded in, if any; without one nothing is loaded."""
    if (
        given["ledger"] is None
        and given["needs_approvals"] is None
        and given.get("ledger_mode") in (None, "coarsen")
    ):
        return None
    from tripcloak.ledger.releasing import ledger_of

    return ledger_of(given)


def _made(
    request: "AnonymisationRequest", ledger: "Ledger | None", given: Given, progress: "Progress"
) -> "tuple[AnonymisationOutcome, RecordedRelease | None]":
    """Return the release, written, and what a ledger has of it."""
    from tripcloak.flows.anonymise import anonymise

    if ledger is None:
        return anonymise(request, progress), None
    from tripcloak.ledger.releasing import anonymise_with_ledger

    return anonymise_with_ledger(
        request,
        ledger,
        mode=given["ledger_mode"],
        approvals_needed=given["needs_approvals"],
        progress=progress,
    )


def _warn(reading: "MatrixReading", segment: str = "") -> None:
    """Say on stderr what is suspicious in what was read."""
    warn(*(f"{segment}{warning}" for warning in reading.warnings))


def _tell(reading: "MatrixReading", segment: str = "") -> None:
    """Say on stderr what became of the rows, and what is suspicious in them; nothing where all is well."""
    lost = cleaning_lines(reading.trips.cleaning)
    if lost or reading.warnings:
        lines = [*where_and_when(reading.trips.where, reading.trips.when), *lost]
        tell(*(f"{segment}{line}" for line in lines))
    _warn(reading, segment)


def sign(
    folders: Iterable[Path],
    inputs: "tuple[Input, ...]",
    memory: "MemoryLimit",
    key: "SigningKey | None",
    progress: "Progress",
) -> None:
    """Audit releases against the raw input and sign what was found, if there is a key."""
    from tripcloak.flows.checking import sign_release

    if key is not None:
        for folder in folders:
            sign_release(folder, inputs, key, memory=memory, progress=progress)


def _show(outcome: "AnonymisationOutcome", *, waits: bool = False) -> None:
    from tripcloak.promises.counted import called_in_words

    release, facts = outcome.release, outcome.to_dict()
    units = ", ".join(
        f"{number(n)} {called_in_words(unit, release.promise.id_is)}"
        for unit, n in facts["audit"]["by_unit"].items()
    )
    rows = [
        *cleaning_rows(outcome.cleaning),
        ("protected", release.promise.by_group.sentence()),
        *(("also", part.sentence()) for part in release.promise.by_release),
        ("released flows", number(release.n_groups)),
        ("origin zones", number(facts["zones"]["origins"])),
        ("destination zones", number(facts["zones"]["destinations"])),
        *([("times", number(facts["zones"]["times"]))] if "times" in facts["zones"] else []),
        *([] if outcome.largest is None else [("largest part", outcome.largest.words())]),
        *_bound(release.bound),
        ("audit", _judgement(outcome, units)),
    ]
    show(*outcome.plain, table(f"{release.method} on {outcome.hierarchy}", ("", "value"), rows))
    show(
        table(
            "What is lost, measure by measure", ("", "value", "what it is"), _measured(outcome), numbers=False
        )
    )
    for note in outcome.notes:
        show(f"Note: {note}")
    when = "Once it is approved, publish" if waits else "Publish"
    show(f"{when} {outcome.out / 'release'} (open map.html); keep {outcome.out / 'private'} inside.")


def _measured(outcome: "AnonymisationOutcome") -> list[tuple[str, str, str]]:
    """Return every measure with its letters, its value and what it means."""
    from tripcloak.comparing.rows import LOSS

    meanings = {column.key: column.words for column in LOSS} | _MEANINGS
    return [(name, number(value), meanings.get(name, "")) for name, value in outcome.measures.items()]


_MEANINGS = {
    "G_time": "slots of time that a released trip may have begun in, on average",
    "GDM_std": "the same, standard deviation",
    "trip_length_emd_km": "kilometres by which the lengths of trips are shifted",
    "rounding_mean": "trips by which the number of a flow is away from the true one, on average",
    "rounding_zone": "the same of the total of a zone, at most",
    "rounding_total": "the same of the total of all flows",
    "top_flow_agreement": "whether the largest flows stay the largest; 1 is perfect",
}


def _judgement(outcome: "AnonymisationOutcome", units: str) -> str:
    return outcome.release.promise.judgement(units) if outcome.audit.safe else "NOT SAFE"


def _bound(bound: "Bound | None") -> list[tuple[str, str]]:
    if bound is None:
        return []
    return [("certificate", f"proven to be {bound.words()} ({bound.relaxation})")]


def release_segments(
    request: "AnonymisationRequest",
    by: Sequence["SegmentBy"],
    *,
    draws: int,
    key: "SigningKey | None" = None,
    json: bool,
) -> None:
    """Make one release per segment and print who pays how much."""
    from tripcloak.fairness.page import fairness_words
    from tripcloak.fairness.segments import anonymise_segments

    said = _warn if json else _tell
    with progress_on_stderr() as progress:
        outcomes = anonymise_segments(
            request,
            by,
            draws=draws,
            once_read=lambda name, reading: said(reading, f"{name}: "),
            progress=progress,
        )
        folders = [one.out for one in outcomes.released.values()]
        sign(folders, request.source.paths, request.memory, key, progress)
    if json:
        print_json(outcomes.to_dict())
        return
    facts = outcomes.facts()
    rows = facts["segments"]
    unit = "trips" if rows[0]["travellers"] is None else "travellers"
    columns = ("segment", "ids" if unit == "travellers" else unit, *SEGMENT_COLUMNS)
    show(table("One release per segment", columns, [_segment_row(row, unit) for row in rows]))
    for name, outcome in outcomes.released.items():
        show(f"{name}: {' '.join(outcome.plain)}")
    for sentence in fairness_words(facts):
        show(sentence)
    for note in outcomes.notes:
        show(f"Note: {note}")
    show(
        f"Publish the folders release in {outcomes.out}/*; keep the folders private and the files "
        f"fairness.* (open {outcomes.out / 'fairness.html'}) inside."
    )
    show_signed(key)


SEGMENT_COLUMNS = ("zones", "G", "GDM (m)", "S", "G at equal size")


def _segment_row(segment: dict[str, Any], unit: str) -> tuple[str, ...]:
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
