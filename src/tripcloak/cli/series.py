"""tripcloak series."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.anonymise import ledger_given, sign
from tripcloak.cli.options import Force, Given, Inputs, Json, takes
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, show_signed, table
from tripcloak.flows.keywords import keywords, series_method, zoning
from tripcloak.pages.presenting import presented
from tripcloak.records.keywords import signing_key, trip_source

if TYPE_CHECKING:
    from tripcloak.flows.series import SeriesOutcome, SeriesRequest
    from tripcloak.ground.progress import Progress
    from tripcloak.ledger.store import Ledger, RecordedRelease


@takes(lambda: keywords("series"))
def command(
    given: Given,
    inputs: Inputs,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the series.")],
    force: Force = False,
    json: Json = False,
) -> None:
    """Make one release a period, all in the same zones, so that months can be compared.

    The zones are planned for all periods at once: every period keeps to the limit on what is withheld, and
    the worst one loses as little as possible. Each period is an ordinary release in a folder of its own.

    DIR/release (open map.html) and DIR/*/release may be published; the folders private must stay inside.

    [bold]Examples[/bold]

      tripcloak series trips.parquet --periods month --out months

      tripcloak series may.parquet june.parquet july.parquet --k 10 --out summer

      tripcloak series trips.parquet --periods month --cumulative --out months

      tripcloak series trips.parquet --periods month --out months --ledger ledger --sign publisher.key

      tripcloak series trips.parquet --periods week --pilot 2024-W21 --suppress 20% --out weeks --json
    """
    from tripcloak.flows.anonymise import ReleaseRequest
    from tripcloak.flows.series import SeriesRequest

    release = ReleaseRequest(
        source=trip_source(inputs, given),
        zoning=zoning(given),
        method=series_method(given),
        publish=given["publish"],
        **presented(given),
        memory=given["memory"],
    )
    request = SeriesRequest(
        release=release,
        out=out,
        periods=given["periods"],
        pilot=given["pilot"],
        cumulative=given["cumulative"],
        force=force,
    )
    key, ledger = signing_key(given), ledger_given(given)
    with progress_on_stderr() as progress:
        outcome, recorded = _made(request, ledger, given["needs_approvals"], progress)
        for name, one in outcome.released.items():
            sign([one.out], outcome.inputs[name], release.memory, key, progress)
    if json:
        told = {} if ledger is None else {"ledger": [one.in_short() for one in recorded]}
        print_json(outcome.to_dict() | told)
    else:
        _show(outcome)
        show_signed(key)
        show(*(one.words() for one in recorded))


def _made(
    request: "SeriesRequest", ledger: "Ledger | None", approvals: int | None, progress: "Progress"
) -> "tuple[SeriesOutcome, tuple[RecordedRelease, ...]]":
    """Return the series, written, and what a ledger has of its releases."""
    from tripcloak.flows.series import make_series

    if ledger is None:
        return make_series(request, progress), ()
    from tripcloak.ledger.releasing import series_with_ledger

    return series_with_ledger(request, ledger, approvals_needed=approvals, progress=progress)


def _show(outcome: "SeriesOutcome") -> None:
    rows = [
        (
            name,
            number(one.release.n_groups),
            number(one.measures["G"]),
            f"{one.measures['S']:.1%}",
            number(min(one.audit.smallest_support.values())),
        )
        for name, one in outcome.released.items()
    ]
    columns = ("period", "flows", "tiles of a trip (G)", "withheld", "smallest flow")
    show(*outcome.plain(), table("One release a period, all in the same zones", columns, rows))
    for note in outcome.notes:
        show(f"Note: {note}")
    show(
        f"Publish {outcome.out / 'release'} (open map.html) and {outcome.out}/*/release; keep the folders "
        "private inside."
    )
