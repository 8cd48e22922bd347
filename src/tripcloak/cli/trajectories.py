"""tripcloak trajectories: the commands on whole trajectories."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.anonymise import in_ledger, ledger_given
from tripcloak.cli.configuration import echo_configuration
from tripcloak.cli.export import show_exports
from tripcloak.cli.options import Also, Force, Given, Inputs, Json, Report, takes
from tripcloak.cli.report import show_report, written_report
from tripcloak.cli.screen import (
    cleaning_lines,
    cleaning_rows,
    files_table,
    number,
    print_json,
    progress_on_stderr,
    show,
    show_signed,
    table,
    taken_columns,
    tell,
    warn,
)
from tripcloak.cli.trajectory_rows import as_markdown, as_tables
from tripcloak.ground.errors import AuditFailedError, InputError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.memory import fail_rather_than_be_killed
from tripcloak.pages.presenting import presented
from tripcloak.records.keywords import signing_key
from tripcloak.trajectories.keywords import keywords, trajectory_method, trajectory_methods, trajectory_source

if TYPE_CHECKING:
    from tripcloak.ground.progress import Progress
    from tripcloak.ledger.store import Ledger, RecordedRelease
    from tripcloak.trajectories.anonymise import TrajectoryOutcome, TrajectoryRequest
    from tripcloak.trajectories.attacking import AttackRow
    from tripcloak.trajectories.reading import ReadTrajectories


def root() -> None:
    """Make whole trajectories safe to publish: who was where and when, each hidden among k.

    In goes a table of fixes, check-ins or calls: person, time, place.

    Out come generalised samples, boxes in space and time, under fresh pseudonyms.

    [bold]Examples[/bold]

      tripcloak trajectories describe calls.parquet

      tripcloak trajectories anonymise calls.parquet --method k-scale --k 5 --out out

      tripcloak trajectories audit out --against calls.parquet
    """


@takes(lambda: keywords("describe"))
def describe(given: Given, inputs: Inputs, json: Json = False) -> None:
    """Tell what is in a table of fixes or check-ins: whose, samples, resolution, and what was dropped.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak trajectories describe calls.parquet

      tripcloak trajectories describe checkins.csv --preset foursquare --json
    """
    from tripcloak.promises.counted import ones_of
    from tripcloak.trajectories.reading.reading import describe_fixes

    source = trajectory_source(inputs, given)
    with progress_on_stderr() as progress:
        found = describe_fixes(source, memory=given["memory"], progress=progress)
    if json:
        print_json(found.to_dict())
        return
    ones = ones_of(found.id_is)
    held = [
        *cleaning_rows(found.cleaning),
        (ones.several, number(found.facts["users"])),
        *_in_it(found.facts),
        *([] if found.where is None else [("the middle is", found.where.near)]),
    ]
    show(table("What is in it", ("", "value"), held))
    show(*taken_columns(found.columns, found.why, found.unused))
    show(*files_table(found.cleaning), *(f"Warning: {warning}" for warning in found.warnings))
    quantiles = {
        "samples_per_user": f"samples of one {ones.one}",
        "gap_minutes": "minutes from one sample to the next",
        "radius_of_gyration_km": "radius of gyration, km",
    }
    spread = {words: found.facts[name] for name, words in quantiles.items() if found.facts[name]}
    if spread:
        shares = tuple(next(iter(spread.values())))
        rows = [(words, *(number(values[share]) for share in shares)) for words, values in spread.items()]
        show(table("How it is spread", ("", *shares), rows))
    for note in found.notes:
        show(f"Note: {note}")


def _in_it(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    sample, period, extent = facts["resolution"], facts["period"], facts["extent_km"]
    rows = [
        ("samples", number(facts["samples"])),
        ("a sample lasts", f"{sample['seconds']} s"),
        ("a sample is wide and high", f"{sample['metres']} m"),
    ]
    rows += [] if period is None else [("from, to", ", ".join(period))]
    return rows + ([] if extent is None else [("extent, km", " x ".join(number(side) for side in extent))])


@takes(lambda: keywords("anonymise"))
def anonymise(
    given: Given,
    inputs: Inputs,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the release.")],
    regions: Annotated[
        str | None,
        typer.Option(
            metavar="auto|BOXES",
            help="One release for each region: boxes such as '40,-75,41,-73;51,-1,52,0', or auto: where most "
            "people are.",
        ),
    ] = None,
    report: Report = False,
    also: Also = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a k-anonymous release of trajectories, check it, and write it to a folder.

    Each sample becomes a box in space and time.

    With k-scale and glove, all samples of a person are in k released trajectories or more.

    All others promise less, or something else, and say so.

    DIR/release may be published; DIR/private must stay inside.

    [bold]Examples[/bold]

      tripcloak trajectories anonymise calls.parquet --k 5 --out out

      tripcloak trajectories anonymise checkins.csv --preset foursquare --method k-scale --out out --json

      tripcloak trajectories anonymise calls.parquet --method w4m --k 2 --delta 2000 --trash 0.1 --out out

      tripcloak trajectories anonymise calls.parquet --names places --background streets.geojson --out out

      tripcloak trajectories anonymise checkins.csv --preset gowalla --regions auto --k 5 --out out

      tripcloak trajectories anonymise calls.parquet --method safepath --epsilon 1 --out out --ledger ledger
    """
    from tripcloak.exporting.beside import Exports
    from tripcloak.trajectories.anonymise import TrajectoryRequest
    from tripcloak.trajectories.checking import sign_trajectories

    exports = Exports.of(also or (), "trajectories")
    key, ledger = signing_key(given), ledger_given(given)
    if ledger is not None and regions is not None:
        raise InputError(
            "a ledger takes one release at a time: make one a region (--box), each with the ledger"
        )
    request = TrajectoryRequest(
        source=trajectory_source(inputs, given),
        method=trajectory_method(given),
        once_read=lambda reading: _tell(reading, regions=regions is not None, json=json),
        out=out,
        memory=given["memory"],
        force=force,
        formats=given["formats"],
        engine=given["engine"],
        master=given["master"],
        **presented(given),
    )
    fail_rather_than_be_killed()
    with progress_on_stderr() as progress:
        outcomes, recorded = _released(request, regions, ledger, given, progress)
        for outcome in outcomes:
            if key is not None:
                sign_trajectories(
                    outcome.out, request.source.paths, key, memory=given["memory"], progress=progress
                )
    written = [written_report(outcome.out, force=force) for outcome in outcomes] if report else []
    for outcome in outcomes:
        echo_configuration(outcome.out / "private")
    exported = [one for outcome in outcomes for one in exports.write(outcome.out, force=force)]
    if json:
        told = [outcome.to_dict() for outcome in outcomes]
        print_json(told[0] | in_ledger(recorded) if regions is None else {"regions": told})
        return
    for number_of_region, outcome in enumerate(outcomes, start=1):
        if regions is not None:
            show(f"Region {number_of_region} of {len(outcomes)}: {_edges(outcome.reading)}")
        _show_release(outcome)
    if regions is not None:
        kept, read = sum(one.reading.cleaning.kept for one in outcomes), outcomes[0].reading.cleaning.rows
        show(f"The regions hold {number(kept)} of {number(read)} fixes; the others are in none, or dropped.")
    show_signed(key)
    show(*([] if recorded is None else [recorded.words()]))
    for pages in written:
        show_report(pages)
    show_exports(exported)


def _released(
    request: "TrajectoryRequest",
    regions: str | None,
    ledger: "Ledger | None",
    given: Given,
    progress: "Progress",
) -> "tuple[tuple[TrajectoryOutcome, ...], RecordedRelease | None]":
    """Return what was released, of every region, and what a ledger has of it."""
    from tripcloak.trajectories.anonymise import anonymise_trajectories
    from tripcloak.trajectories.regions import anonymise_regions, read_regions

    if regions is not None:
        return anonymise_regions(request, read_regions(regions), progress), None
    if ledger is None:
        return (anonymise_trajectories(request, progress),), None
    from tripcloak.ledger.trajectories import anonymise_trajectories_with_ledger

    outcome, recorded = anonymise_trajectories_with_ledger(
        request, ledger, approvals_needed=given["needs_approvals"], progress=progress
    )
    return (outcome,), recorded


def _tell(reading: "ReadTrajectories", *, regions: bool, json: bool) -> None:
    """Say on stderr what became of the fixes, and what is suspicious in them, by region if there are any."""
    where = f"{_edges(reading)}: " if regions else ""
    # What is told twice in a step of the grid is told all the same.
    lost = not json and set(reading.cleaning.dropped) - {"repeated"}
    tell(*(f"{where}{line}" for line in (cleaning_lines(reading.cleaning) if lost else [])))
    warn(*(f"{where}{warning}" for warning in reading.warnings))


def _edges(reading: "ReadTrajectories") -> str:
    return ",".join(f"{edge:g}" for edge in reading.source.box or ())


def _show_release(outcome: "TrajectoryOutcome") -> None:
    from tripcloak.promises.counted import ones_of

    release, grid = outcome.release, outcome.release.grid
    several, lacking = ones_of(release.promise.id_is).several, outcome.reading.cleaning.lacking or 0
    rows = [
        *cleaning_rows(outcome.reading.cleaning),
        (f"{several} that lost samples in that", mask_small(lacking, zero=True)),
        (several, number(outcome.trajectories.n_users)),
        ("samples", number(outcome.trajectories.n_samples)),
        ("a sample lasts and spans", f"{grid.seconds} s, {grid.metres} m"),
        ("protected", release.promise.sentence()),
        ("released trajectories", number(release.n_released)),
        ("released samples", number(release.n_boxes)),
        *_measures(outcome.measures),
        ("samples created", number(int(release.created.sum()))),
        ("samples deleted", number(int(release.deleted.sum()))),
        ("audit", _audited(outcome)),
        *_raw_record(outcome),
        ("seconds", ", ".join(f"{what} {spent:.1f}" for what, spent in outcome.seconds.items())),
    ]
    show(*outcome.plain, table(f"{release.method} on trajectories", ("", "value"), rows))
    for note in outcome.notes:
        show(f"Note: {note}")
    show(f"Publish {outcome.out / 'release'} (open map.html); keep {outcome.out / 'private'} inside.")


def _audited(outcome: "TrajectoryOutcome") -> str:
    """Return what is safe, and beside it how often a guess is right all the same."""
    held = outcome.release.promise.judgement(number(outcome.audit.smallest_support))
    return held if outcome.guess is None else f"{held}; {outcome.guess.sentence()}"


def _raw_record(outcome: "TrajectoryOutcome") -> list[tuple[str, str]]:
    """Return how people are hidden from those who know dropped samples too; nothing where nobody lost any."""
    told = outcome.audit.numbers["raw_record"]
    if not (outcome.release.promise.contains and told["people"]):
        return []
    widened = mask_small(outcome.release.facts.get("widened_samples", 0), "released samples", zero=True)
    return [
        ("with dropped samples", f"smallest support {number(told['smallest_support'])} trajectories"),
        ("widened for that", widened),
    ]


def _measures(measures: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("space error, mean km", number(measures["spatial_error_km"]["mean"])),
        ("time error, mean minutes", number(measures["time_error_minutes"]["mean"])),
        ("released area, median km2", number(measures["area_km2"]["median"])),
        ("released duration, median minutes", number(measures["duration_minutes"]["median"])),
    ]


@takes(lambda: keywords("compare"))
def compare(
    given: Given,
    inputs: Inputs,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for compare.html, .md, .csv and .json.", show_default=False),
    ] = None,
    force: Force = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", metavar="", help="Print the table as Markdown.")
    ] = False,
    json: Json = False,
) -> None:
    """Run methods one after the other on the same trajectories, measure and audit each.

    Errors are means over kept samples; created and deleted are shares of all samples; guessed says for how
    many of 100 people a simple guess names the right trajectory. How far places, distances and moves of all
    are apart from the true ones is told of every release, 0 the same and 1 nothing in common.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak trajectories compare calls.parquet --methods k-scale,glove,w4m --k 2

      tripcloak trajectories compare calls.parquet --sample-users 2000 --delta 2000 --trash 0.1 --out out
    """
    from tripcloak.comparing.files import refuse_if_compared
    from tripcloak.comparing.trajectories import compare_trajectories
    from tripcloak.comparing.trajectory_files import write_trajectory_comparison

    if out is not None:
        refuse_if_compared(out, force=force)
    source, chosen = trajectory_source(inputs, given), trajectory_methods(given)
    with progress_on_stderr() as progress:
        found = compare_trajectories(source, chosen, memory=given["memory"], progress=progress)
        if out is not None:
            write_trajectory_comparison(out, found, force=force)
    ran = [row for row in found.rows if row.reason is None]
    if json:
        print_json({**found.to_dict(), "out": None if out is None else str(out)})
    elif markdown:
        show(as_markdown(ran))
    else:
        title = f"k = {given['k']} on {number(found.reading.trajectories.n_users)} trajectories"
        show(*as_tables(title, ran))
    if not json:
        show(*(f"{row.method} did not run: {row.reason}" for row in found.rows if row.reason is not None))
    if ran and not json and not markdown:
        show("", found.advice())
    if out is not None and not json:
        show(f"Open {out / 'compare.html'}, and keep it inside.")
    if not ran:
        raise AuditFailedError("no method came to a release")


ATTACKER = "What the attacker knows"


@takes(lambda: keywords("attack"))
def attack(
    given: Given,
    inputs: Inputs,
    release: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A release made of INPUT, which is then read as it was for that."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="points, window, places, home-work, location, location-sequence, location-time, "
            "unique-location, location-frequency, location-probability, location-proportion, owner, "
            "whereabouts, or all.",
            rich_help_panel=ATTACKER,
        ),
    ] = "points",
    known: Annotated[
        str | None,
        typer.Option(
            "--known",
            "--points",
            metavar="N,N|N..N",
            help="How many samples, places or hours: 4, or 1,2,4, or 1..10; the attack's own if not given "
            "(owner: all).",
            rich_help_panel=ATTACKER,
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="By which numbers of visits may differ.", rich_help_panel=ATTACKER
        ),
    ] = 0.0,
    precision: Annotated[
        str,
        typer.Option(
            metavar="UNIT", help="location-time: times to the hour, day, ...", rich_help_panel=ATTACKER
        ),
    ] = "hour",
    people: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Attack so many people, drawn at random.")
    ] = None,
    draw: Annotated[int, typer.Option(metavar="SEED", help="The same seed draws the same knowledge.")] = 0,
    json: Json = False,
) -> None:
    """Try to find people by what somebody may know of them, before and after a release.

    Shares of people: found for certain, hidden among fewer than 5, and the mean chance of a guess.

    owner asks which of the released trajectories that fit is the person's own, by simple guesses;
    whereabouts, how often the boxes of one that fits hold the person at other moments.

    The numbers look at unreleased data: keep them inside.

    [bold]Examples[/bold]

      tripcloak trajectories attack calls.parquet --kind points --known 1..10

      tripcloak trajectories attack calls.parquet --release out --kind points,home-work --json

      tripcloak trajectories attack calls.parquet --release out --kind all --people 1000

      tripcloak trajectories attack calls.parquet --release out --kind owner
    """
    from tripcloak.trajectories.attacking import AttackPlan, all_or_some, attack_trajectories

    plan = AttackPlan(
        kinds=all_or_some([name.strip() for name in kind.split(",")], released=release is not None),
        known=whole_numbers(known),
        tolerance=tolerance,
        precision=precision,
        people=people,
        seed=draw,
    )
    source = trajectory_source(inputs, given)
    with progress_on_stderr() as progress:
        rows = attack_trajectories(source, plan, release=release, memory=given["memory"], progress=progress)
    if json:
        print_json({"attacks": [asdict(row) for row in rows]})
    else:
        _show_attacks(rows)


def whole_numbers(text: str | None) -> tuple[int, ...]:
    """Return the numbers of a list or a range; none where nothing was given.

    >>> whole_numbers("1,2,4"), whole_numbers("1..3"), whole_numbers(None)
    ((1, 2, 4), (1, 2, 3), ())
    """
    if text is None:
        return ()
    if match := re.fullmatch(r"\s*(\d{1,4})\s*\.\.\s*(\d{1,4})\s*", text):
        return tuple(range(int(match[1]), int(match[2]) + 1))
    if re.fullmatch(r"\s*\d{1,4}\s*(,\s*\d{1,4}\s*)*", text):
        return tuple(int(part) for part in text.split(","))
    raise InputError(f"--known takes whole numbers such as 4, 1,2,4 or 1..10; got {text!r}")


def _show_attacks(rows: "tuple[AttackRow, ...]") -> None:
    lines = [(row.kind, _known(row), *_found(row)) for row in rows]
    show(table("What attackers find", ("attack", "known", "found", "among fewer than 5", "mean risk"), lines))
    if any(row.after is not None for row in rows):
        show("Left of the arrow: among the original trajectories; right of it: among the released ones.")
    for row in rows:
        if row.after is not None and "named" in row.after:
            _show_guesses(row, row.after["named"])
        if row.after is not None and "held" in row.after:
            _show_whereabouts(row, row.after["held"])


def _known(row: "AttackRow") -> str:
    return f"{'all' if row.knowledge is None else row.knowledge} {row.unit}"


def _show_guesses(row: "AttackRow", named: dict[str, float]) -> None:
    best = max((name for name in named if name != "blind"), key=lambda name: named[name])
    of_whom = f"{row.kind}, {_known(row)} known"
    show(f"{of_whom}: a blind guess among those that fit names {named['blind']:.1%} of people.")
    show(f"{of_whom}: the best simple guess ({best}) names {named[best]:.1%} of people.")


def _show_whereabouts(row: "AttackRow", held: dict[str, float]) -> None:
    of_whom = f"{row.kind}, {_known(row)} known"
    show(f"{of_whom}: at another moment the box of one that fits holds the person in {held['fitting']:.1%}.")
    show(f"{of_whom}: the box of any released trajectory does in {held['anybody']:.1%}.")


def _found(row: "AttackRow") -> list[str]:
    before, after = (None if found is None else _shares(found) for found in (row.before, row.after))
    if before is None or after is None:
        return before or [f"→ {share}" for share in after or ()]
    return [f"{one} → {other}" for one, other in zip(before, after, strict=True)]


def _shares(found: dict[str, Any]) -> list[str]:
    return [f"{found['unique']:.1%}", f"{found['fewer_than']['5']:.1%}", f"{found['mean_risk']:.3f}"]


@takes(lambda: keywords("trips"))
def trips(
    given: Given,
    inputs: Inputs,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="File to write: CSV if its name ends so, else Parquet.")
    ],
    stay: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            help="Time at a place that makes it an end of trips; found from what the fixes are (20; 0 of "
            "check-ins).",
        ),
    ] = None,
    place: Annotated[
        float | None,
        typer.Option(
            metavar="METRES",
            help="Samples within this distance are at one place; found from what the fixes are (200; the "
            "distance of base stations).",
        ),
    ] = None,
    longest: Annotated[
        float | None,
        typer.Option(metavar="HOURS", help="After a longer silence, a change of place is no trip (24)."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What parts trips: stays; rides with a passenger, where the fixes tell of such; silence.",
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Extract trips from trajectories, for the commands on origins and destinations.

    A trip leads from a stay to the next one elsewhere; of taxis that tell, it is a ride with a passenger.

    What a stay is follows from what the fixes are: GPS, calls or check-ins. A note says what was taken.

    INPUT is raw, or a folder written by anonymise, whose boxes are taken at their centres.

    The file is what `tripcloak anonymise` reads without further options.

    Places are told to 10 metres, unless --metres says otherwise.

    [bold]Examples[/bold]

      tripcloak trajectories trips calls.parquet --out trips.parquet

      tripcloak trajectories trips out --out released-trips.parquet

      tripcloak trajectories trips checkins.csv --preset foursquare --out trips.parquet

      tripcloak trajectories trips cabs --preset cabspotting --out rides.parquet
    """
    from tripcloak.trajectories.trips import TripRules, write_trips_of_trajectories

    rules = TripRules(minutes=stay, metres=place, hours=longest, by=by)
    source = trajectory_source(inputs, given)
    with progress_on_stderr() as progress:
        made = write_trips_of_trajectories(
            source, out, rules, memory=given["memory"], force=force, progress=progress
        )
    if json:
        print_json(made.to_dict())
        return
    between = made.stays is not None
    rows = [
        ("trajectories", number(made.trajectories)),
        *([("stays", number(made.stays))] if between else []),
        ("trips", number(made.trips)),
        *([("left out: silence too long", number(made.too_long))] if between else []),
    ]
    titles = {"rides": "Rides with a passenger", "silence": "Trips between silences"}
    show(table(titles.get(made.rules["by"], "Trips between stays"), ("", "number"), rows))
    for note in made.notes:
        show(f"Note: {note}")
