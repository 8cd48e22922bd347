"""The demo: a made-up city, walked down the whole road."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tripcloak.algorithms import ODkAnon
from tripcloak.algorithms.base import Progress, silent
from tripcloak.criteria import KAnonymity
from tripcloak.errors import AuditFailedError
from tripcloak.io.folder import refuse_if_taken
from tripcloak.synth import City, write_city
from tripcloak.trips import TripSource
from tripcloak.workflow.anonymise import Order, anonymise
from tripcloak.workflow.checking import audit_against
from tripcloak.workflow.reading import Place

PLACE = Place(spec="h3:9")
CRITERION = KAnonymity(k=10, unit="travellers")


def run_demo(
    out: Path, *, trips: int = 200_000, seed: int = 1, force: bool = False, progress: Progress = silent
) -> Iterator[str]:
    """Make a city, anonymise it, audit it against the raw trips; yield a line of words after each step."""
    refuse_if_taken(out, force=force)
    raw = out / "city.parquet"
    out.mkdir(parents=True, exist_ok=True)
    write_city(
        City(trips=trips, seed=seed),
        raw,
        progress=lambda done, total: progress("making a city", done, total),
    )
    yield f"1. Made {trips:,} trips of a made-up city (seed {seed}): {raw}"
    order = Order(
        source=TripSource(paths=(str(raw),)),
        algorithm=ODkAnon(criterion=CRITERION),
        place=PLACE,
        out=out,
        force=force,
    )
    outcome = anonymise(order, progress)
    origins, destinations = outcome.release.zone_numbers
    yield (
        f"2. Released {outcome.release.n_groups:,} flows between {origins} origin and {destinations} "
        f"destination zones, each with {CRITERION.words()}; {outcome.metrics['S']:.1%} of the trips withheld"
    )
    report = audit_against(out, (str(raw),), progress=progress)
    if not report.safe:
        broken = ", ".join(finding.rule for finding in report.findings if not finding.ok)
        raise AuditFailedError(f"the demo's release failed its audit: {broken}")
    yield f"3. Audited against the raw trips: safe, {len(report.findings)} rules hold"
    yield f"4. Look at it: {(out / 'release' / 'map.html').resolve().as_uri()}"
