"""tripcloak anonymise."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import ZONES, Json, TripInput, takes_input
from tripcloak.cli.screen import cleaning_rows, number, print_json, progress_on_stderr, show, table
from tripcloak.cli.segments import release_segments
from tripcloak.flows.protection import asked_promise
from tripcloak.ground.errors import InputError
from tripcloak.ground.threads import processors

if TYPE_CHECKING:
    from tripcloak.flows.anonymise import AnonymisationOutcome
    from tripcloak.flows.release import Bound


PRIVACY, SEGMENTS, OWN = "Privacy", "Segments", "Options of single methods"


@takes_input
def command(
    given: TripInput,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the release.")],
    method: Annotated[str, typer.Option(metavar="NAME", help="See `tripcloak methods`.")] = "twincut",
    k: Annotated[
        float,
        typer.Option(
            "--k", metavar="K", help="Smallest support of a released flow.", rich_help_panel=PRIVACY
        ),
    ] = 10,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT",
            help="What k counts: trips, travellers or population, or several separated by commas. "
            "Travellers where there is an id, else trips, if not given.",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    k_population: Annotated[
        str | None,
        typer.Option(
            metavar="K",
            help="Smallest population of a released flow: a number, or auto for k times the mean weight. "
            "Without --unit it is asked for beside k.",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    suppress: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Share of the volume that may be withheld.", rich_help_panel=PRIVACY
        ),
    ] = 0.1,
    tiles: Annotated[
        int | None,
        typer.Option(
            "--l",
            metavar="L",
            help="Every released zone covers at least this many tiles that occur.",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    places: Annotated[
        int | None,
        typer.Option(
            "--l-places",
            metavar="L",
            help="The same for places (--origin-place, --destination-place).",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    closeness: Annotated[
        float | None,
        typer.Option(
            "--t",
            metavar="T",
            help="An origin's destinations differ from everybody's by at most this share.",
            rich_help_panel=PRIVACY,
        ),
    ] = None,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="One release per segment: sex, or age:10 for bins of numbers (repeatable).",
            rich_help_panel=SEGMENTS,
        ),
    ] = None,
    segment_joint: Annotated[
        bool,
        typer.Option(
            "--segment-joint",
            help="Instead one release, in which every segment of every released flow is safe.",
            rich_help_panel=SEGMENTS,
        ),
    ] = False,
    draws: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Samples of equal size drawn from each segment, to tell size from other causes.",
            rich_help_panel=SEGMENTS,
        ),
    ] = 3,
    time_slot: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Make time an axis, in slots of 15min, 1h, 2h ... by --timezone's clock "
            "(productcut, oigh, km-apriori, suppression).",
            rich_help_panel=ZONES,
        ),
    ] = None,
    slot: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="One matrix per slot of 15min, 1h, 2h ..., each anonymised on its own.",
            rich_help_panel=ZONES,
        ),
    ] = None,
    fold: Annotated[
        str | None,
        typer.Option(
            metavar="PERIOD",
            help="Fold slots over a period that repeats: day, week or 2weeks.",
            rich_help_panel=ZONES,
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(metavar="LOSS", help="What is minimised: tiles, area or metres.", rich_help_panel=OWN),
    ] = None,
    first: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="nestedcut: cut origins or destinations first.", rich_help_panel=OWN
        ),
    ] = None,
    time_weight: Annotated[
        float | None,
        typer.Option(
            help="productcut, oigh, km-apriori: loss of one slot of released time, in tiles, km2 or metres.",
            rich_help_panel=OWN,
        ),
    ] = None,
    m: Annotated[
        int | None,
        typer.Option(
            "--m",
            metavar="M",
            help="km-apriori: items of a trip (origin, destination, time) that somebody may know; all of "
            "them if not given. With fewer a flow may hold fewer than k.",
            rich_help_panel=OWN,
        ),
    ] = None,
    v_target: Annotated[
        float | None,
        typer.Option(help="atg, knapsack: volume an origin zone should have.", rich_help_panel=OWN),
    ] = None,
    multiplier: Annotated[
        float | None,
        typer.Option(help="atg-soft: tiles that a suppressed trip counts as.", rich_help_panel=OWN),
    ] = None,
    table_memory: Annotated[
        float | None,
        typer.Option(metavar="GB", help="knapsack: what its tables may take.", rich_help_panel=OWN),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Return the best safe release after this long: 60s, 5min.",
            rich_help_panel=OWN,
        ),
    ] = None,
    levels: Annotated[
        int | None, typer.Option(help="odkanon: heights its filter looks up.", rich_help_panel=OWN)
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="laplace, inftda: how much one traveller may change the odds of what is released; "
            "smaller is more private.",
            rich_help_panel=OWN,
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="laplace, inftda: the chance that this fails; 1e-6.", rich_help_panel=OWN),
    ] = None,
    contributions: Annotated[
        int | None,
        typer.Option(
            help="laplace, inftda: trips of one traveller that are counted; 10.", rich_help_panel=OWN
        ),
    ] = None,
    height: Annotated[
        int | None,
        typer.Option(
            help="laplace, inftda: height of the released zones, 0 being tiles; never chosen by the data.",
            rich_help_panel=OWN,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a release that is already there.")] = False,
    json: Json = False,
) -> None:
    """Make a k-anonymous release of trips, check it, and write it to a folder.

    The methods laplace and inftda make a differentially private one instead, which knows no k.

    DIR/release may be published; DIR/private must stay inside.

    [bold]Examples[/bold]

      tripcloak anonymise trips.parquet --k 10 --out out

      tripcloak anonymise 'rides/*.csv.gz' --preset citibike --unit trips --hierarchy h3:9 --out out

      tripcloak anonymise od.csv --hierarchy dendrogram --zones tracts.geojson --out out --json
    """
    from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
    from tripcloak.flows.methods import SlotBySlot, find_method
    from tripcloak.records.segments import SegmentBy

    asked = {"loss": loss, "first": first, "time_weight": time_weight, "v_target": v_target, "levels": levels}
    asked |= {"multiplier": multiplier, "table_memory": table_memory, "m": m}
    asked |= {"epsilon": epsilon, "delta": delta, "contributions": contributions, "height": height}
    parameters: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if time_limit is not None:
        parameters["time_limit"] = seconds(time_limit)
    if slot is not None and time_slot is not None:
        raise InputError("--slot keeps slots apart and --time-slot makes time an axis; give one of them")
    if time_weight is not None and time_slot is None:
        raise InputError("--time-weight weighs slots of time; give their length with --time-slot")
    kind = find_method(method)
    for name in parameters:
        if name not in kind.__dataclass_fields__:
            raise InputError(f"{method} has no option --{name.replace('_', '-')}")
    asked_for = asked_promise(k, unit, tiles, places, k_population=k_population, t=closeness)
    chosen = kind(promise=asked_for, suppression_limit=suppress, **parameters)
    request = AnonymisationRequest(
        source=given.source,
        zoning=replace(given.zoning, time_slot=minutes(slot or time_slot), fold=fold, apart=slot is not None),
        method=chosen if slot is None else SlotBySlot.of(chosen, jobs=processors()),
        out=out,
        memory=given.memory,
        force=force,
    )
    by = tuple(SegmentBy.parse(text) for text in segment or ())
    if segment_joint and not by:
        raise InputError("--segment-joint needs what parts the people; give it with --segment")
    if by and not segment_joint:
        release_segments(request, by, draws=draws, json=json)
        return
    with progress_on_stderr() as progress:
        outcome = anonymise(replace(request, every_segment=by), progress)
    if json:
        print_json(outcome.to_dict())
    else:
        _show(outcome)


def seconds(text: str) -> float:
    """Return a length of time in seconds.

    >>> seconds("60s"), seconds("1.5min"), seconds("20")
    (60.0, 90.0, 20.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|min|m|h)?\s*", text)
    if match is None:
        raise InputError(f"--time-limit takes a time such as 60s or 5min; got {text!r}")
    return float(match[1]) * {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}[match[2] or "s"]


def minutes(text: str | None) -> int | None:
    """Return the length of a slot of time in whole minutes; None where there is none.

    >>> minutes("15min"), minutes("1h"), minutes("1d")
    (15, 60, 1440)
    """
    if text is None:
        return None
    match = re.fullmatch(r"\s*(\d{1,5})\s*(min|m|h|d)\s*", text)
    if match is None:
        raise InputError(f"--slot and --time-slot take a time such as 15min, 1h or 1d; got {text!r}")
    return int(match[1]) * {"min": 1, "m": 1, "h": 60, "d": 1440}[match[2]]


def _show(outcome: "AnonymisationOutcome") -> None:
    release, facts = outcome.release, outcome.to_dict()
    units = ", ".join(f"{number(n)} {unit}" for unit, n in facts["audit"]["by_unit"].items())
    rows = [
        *cleaning_rows(outcome.cleaning),
        ("protected", release.promise.by_group.sentence()),
        *(("also", part.sentence()) for part in release.promise.by_release),
        ("released flows", number(release.n_groups)),
        ("origin zones", number(facts["zones"]["origins"])),
        ("destination zones", number(facts["zones"]["destinations"])),
        *([("times", number(facts["zones"]["times"]))] if "times" in facts["zones"] else []),
        *_bound(release.bound),
        ("audit", _judgement(outcome, units)),
        *((name, number(value)) for name, value in outcome.measures.items()),
    ]
    show(table(f"{release.method} on {outcome.hierarchy}", ("", "value"), rows))
    for note in outcome.notes:
        show(f"Note: {note}")
    show(f"Publish {outcome.out / 'release'} (open map.html); keep {outcome.out / 'private'} inside.")


def _judgement(outcome: "AnonymisationOutcome", units: str) -> str:
    return outcome.release.promise.judgement(units) if outcome.audit.safe else "NOT SAFE"


def _bound(bound: "Bound | None") -> list[tuple[str, str]]:
    if bound is None:
        return []
    return [("certificate", f"within {bound.gap:.2g} % of the best possible ({bound.relaxation})")]
