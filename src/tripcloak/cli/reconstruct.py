"""tripcloak reconstruct."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripcloak.cli.options import Force, Json, Memory
from tripcloak.cli.screen import number, print_json, progress_on_stderr, show, table
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from tripcloak.analysis.rebuild import Checked, Rebuilt


def command(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A release folder, or its public part.")],
    zones: Annotated[
        str, typer.Option(metavar="FILE", help="Zones to rebuild flows between: GeoJSON, GeoParquet or CSV.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the tables.")],
    rule: Annotated[
        str,
        typer.Option(metavar="RULE", help="Spread released zones over their area, or their tiles."),
    ] = "area",
    id_column: Annotated[
        str | None,
        typer.Option(
            "--zone-id", "--id-column", metavar="COLUMN", help="Column of the file that names the zones."
        ),
    ] = None,
    at_least: Annotated[
        float, typer.Option(metavar="VOLUME", min=0, help="Leave out flows with a smaller estimate.")
    ] = 0.01,
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="INPUT", help="Data owners: compare with the raw input (repeatable)."),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="FROM:TO", help="With --against: pairs of zones to draw (repeatable)."),
    ] = None,
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Rebuild the flows of a release between zones of your own.

    Released flows are spread evenly over their zones, and each estimate comes with an interval of 95 % and
    with bounds: all that lies inside, and all that touches or was withheld. Only the public files are
    read; with --against also the raw input.

    [bold]Examples[/bold]

      tripcloak reconstruct out --zones districts.geojson --out rebuilt

      tripcloak reconstruct out --zones districts.geojson --against trips.parquet --pair A:B --out rebuilt
    """
    from tripcloak.analysis.drawn import RULES
    from tripcloak.analysis.rebuild import check_against, rebuild, refuse_if_rebuilt, write_rebuilt

    if rule not in RULES:
        raise InputError(f"--rule must be {' or '.join(RULES)}; got {rule!r}")
    if pair and not against:
        raise InputError("--pair draws original beside rebuilt flows; give the raw input with --against")
    refuse_if_rebuilt(out, force=force)
    with progress_on_stderr() as progress:
        rebuilt = rebuild(release, zones, rule=rule, id_column=id_column, at_least=at_least)
        checked = None
        if against:
            checked = check_against(
                rebuilt, release, tuple(against), zones, id_column=id_column, memory=memory, progress=progress
            )
        write_rebuilt(out, rebuilt, checked, pairs=pair or (), force=force)
    facts = _facts(rebuilt, checked)
    if json:
        print_json({**facts, "out": str(out)})
    else:
        _show(facts, out, checked is not None)


def _facts(rebuilt: "Rebuilt", checked: "Checked | None") -> dict[str, Any]:
    listed = rebuilt.columns()["volume"]
    return {
        "zones": len(rebuilt.names),
        "flows": len(listed),
        "volume": float(listed.sum()),
        "left_out": max(rebuilt.volume - float(listed.sum()), 0.0),
        "released": float(rebuilt.published.volume.sum()),
        "rule": rebuilt.rule,
        "outside": rebuilt.outside,
        "unplaced": rebuilt.unplaced,
        "unseen": {"volume": rebuilt.unseen.volume, "unevenness": rebuilt.unseen.unevenness},
        "unlisted": dict(zip(("high", "most"), rebuilt.unlisted, strict=True)),
        "agreement": None if checked is None else checked.agreement._asdict(),
    }


def _show(facts: dict[str, Any], out: Path, checked: bool) -> None:
    rows = [
        ("zones", number(facts["zones"])),
        ("flows between them", number(facts["flows"])),
        ("volume between them", f"{facts['volume']:,.0f} of {facts['released']:,.0f}"),
        ("in flows too small to list", f"{facts['left_out']:,.0f}"),
        ("outside, at the origin", f"{facts['outside']['origins']:.1%}"),
        ("outside, at the destination", f"{facts['outside']['destinations']:.1%}"),
    ]
    if facts["unplaced"] > 0:
        rows.append(("without an outline", f"{facts['unplaced']:.1%}"))
    rows += [
        ("withheld or not placed, at most", f"{facts['unseen']['volume']:,.0f}"),
        ("pairs not listed, high", f"{facts['unlisted']['high']:,.0f}"),
    ]
    rows += [(name.replace("_", " "), number(value)) for name, value in (facts["agreement"] or {}).items()]
    show(table(f"Rebuilt by {facts['rule']}", ("", "value"), rows))
    show(f"The flows are in {out}.")
    if checked:
        show("profiles.html and agreement.json are internal: they tell about original data.")
