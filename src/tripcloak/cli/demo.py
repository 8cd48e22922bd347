"""tripcloak demo: a made-up city, walked down the whole road."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from tripcloak.cli.options import Force
from tripcloak.cli.screen import progress_on_stderr, show
from tripcloak.ground.errors import AuditFailedError, OutputExistsError
from tripcloak.ground.folders import refuse_if_taken
from tripcloak.ground.progress import Progress, silent


def command(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the demo.")] = Path("demo"),
    trips: Annotated[int, typer.Option(metavar="N", help="Number of trips.")] = 200_000,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same city.")] = 1,
    force: Force = False,
) -> None:
    """Walk the whole road once: make a city, anonymise it, audit it, leave a map and a report to look at.

    [bold]Example[/bold]

      tripcloak demo --out demo
    """
    with progress_on_stderr() as progress:
        run_demo(out, trips=trips, seed=seed, force=force, tell=show, progress=progress)


def run_demo(
    out: Path,
    *,
    trips: int = 200_000,
    seed: int = 1,
    force: bool = False,
    tell: Callable[[str], None] = print,
    progress: Progress = silent,
) -> None:
    """Make a city, anonymise it, audit it against the raw trips; tell a line of words after each step."""
    from tripcloak.flows.anonymise import AnonymisationRequest, anonymise
    from tripcloak.flows.checking import audit_against
    from tripcloak.flows.methods.twincut import TwinCut
    from tripcloak.flows.reading.matrix import Zoning
    from tripcloak.promises import KAnonymity
    from tripcloak.records.source import TripSource
    from tripcloak.synth import City, write_city

    city, raw = City(trips=trips, seed=seed), out / "city.parquet"
    refuse_if_taken(out, force=force)
    if raw.exists() and not force:
        raise OutputExistsError(f"{raw} is already there; choose another folder, or replace it with --force")
    request = AnonymisationRequest(
        source=TripSource(paths=(str(raw),)),
        method=TwinCut(promise=KAnonymity(k=10, unit="travellers")),
        zoning=Zoning(spec="h3:10"),
        out=out,
        force=force,
    )
    with _undone_on_failure(raw):
        write_city(city, raw, progress=lambda done, total: progress("making a city", done, total))
        tell(f"1. Made {trips:,} trips of a made-up city (seed {seed}): {raw}")
        outcome = anonymise(request, progress)
    release = outcome.release
    origins, destinations = release.zone_numbers
    tell(
        f"2. Released {release.n_groups:,} flows between {origins} origin and {destinations} destination "
        f"zones, each with {release.promise.sentence()}; {outcome.measures['S']:.1%} of the trips withheld"
    )
    report = audit_against(out, (str(raw),), progress=progress)
    if not report.safe:
        raise AuditFailedError(f"the demo's release failed its audit: {', '.join(report.broken)}")
    tell(f"3. Audited against the raw trips: {report.sentence()[:1].lower()}{report.sentence()[1:]}")
    from tripcloak.cli.report import written_report

    tell(f"4. Look at the map: {(out / 'release' / 'map.html').resolve().as_uri()}")
    tell(f"5. Read the report: {written_report(out, force=force).public.resolve().as_uri()}")


@contextmanager
def _undone_on_failure(file: Path) -> Iterator[None]:
    """Make room for a file; should what follows fail, all is again as it was."""
    new = [folder for folder in file.parents if not folder.exists()]
    old, kept = file.exists(), file.with_name(f".{file.name}.kept")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if old:
            file.replace(kept)
        yield
    except BaseException:
        if kept.exists():
            kept.replace(file)
        elif not old:
            file.unlink(missing_ok=True)
        for folder in new:
            with suppress(OSError):
                folder.rmdir()
        raise
    kept.unlink(missing_ok=True)
