"""tripcloak analyse."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripcloak.cli.options import Force, Json, Memory
from tripcloak.cli.screen import print_json, progress_on_stderr, show, table

if TYPE_CHECKING:
    from tripcloak.analysis.analyse import Analysis


def command(
    release: Annotated[
        Path,
        typer.Argument(metavar="RELEASE", help="A release folder with slots of time, or its public part."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the page and the tables.")],
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="INPUT", help="Data owners: ask the same of the raw input (repeatable)."),
    ] = None,
    zones: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Zones to ask about: GeoJSON, GeoParquet or CSV, or h3:RES; H3 cells by default.",
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--zone-id", "--id-column", metavar="COLUMN", help="Column of the file that names the zones."
        ),
    ] = None,
    clusters: Annotated[int, typer.Option(metavar="N", help="Kinds of land use to tell apart, 2 to 8.")] = 4,
    topics: Annotated[int, typer.Option(metavar="N", help="Typical flows to tell apart, 2 to 8.")] = 4,
    seed: Annotated[int, typer.Option(metavar="N", help="Where the searches start.")] = 0,
    memory: Memory = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Ask a release what analysts ask: profiles of zones by the hour, land use, typical flows.

    For releases with slots of time. With --against the same is asked of the original trips, and the answers
    are compared: does the release still answer the question? Of the release only public files are read.

    [bold]Examples[/bold]

      tripcloak analyse out --out analysis

      tripcloak analyse out --against trips.parquet --zones districts.geojson --out analysis
    """
    from tripcloak.analysis import Questions
    from tripcloak.analysis.analyse import analyse
    from tripcloak.analysis.facts import facts
    from tripcloak.analysis.files import refuse_if_analysed, write_analysis

    questions = Questions(clusters=clusters, topics=topics, seed=seed)
    refuse_if_analysed(out, force=force)
    with progress_on_stderr() as progress:
        found = analyse(
            release,
            tuple(against or ()),
            zones=zones,
            id_column=id_column,
            questions=questions,
            memory=memory,
            progress=progress,
        )
        write_analysis(out, found, force=force)
    if json:
        print_json({**facts(found), "out": str(out)})
    else:
        _show(found, out)


def _show(found: "Analysis", out: Path) -> None:
    from tripcloak.analysis.facts import coarse_words, score_rows, slots_in_words, zones_in_words

    outside = " and ".join(f"{share:.1%} of {axis}" for axis, share in found.outside.items())
    show(f"Zones: {zones_in_words(found)}. Slots: {slots_in_words(found)}. Outside the zones: {outside}.")
    rows = score_rows(found)
    if rows:
        columns = ("question", "measure", "release", "by chance alone")
        show(table("How alike the answers are to those of the original trips", columns, rows, numbers=False))
    for sentence in coarse_words(found):
        show(sentence)
    for whose, answers in (("release", found.release), ("original", found.original)):
        for question, why in {} if answers is None else answers.failures.items():
            show(f"No answer on {question} ({whose}): {why}.")
    show(f"Open {out / 'analysis.html'}.")
    if found.original is not None:
        show(
            "It, analysis.json and the tables called internal_ tell about original data: not for publication."
        )
