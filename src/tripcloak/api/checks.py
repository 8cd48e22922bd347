"""The front door's verbs on releases that are there already, of flows or of trajectories."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.api.flows import ReleasedFlows
from tripcloak.api.inputs import Inputs, Points, take
from tripcloak.api.made_flows import TABLES
from tripcloak.api.progress import Shown, shown
from tripcloak.api.released import PublicFolder
from tripcloak.api.results import CheckedRelease, ReleaseAudit, ReleaseMeasures, ReleaseScore
from tripcloak.api.trajectories import ReleasedTrajectories
from tripcloak.ground.errors import InputError
from tripcloak.ground.manifest import public_part, read_manifest
from tripcloak.ground.spelling import called

if TYPE_CHECKING:
    from tripcloak.reporting.writing import WrittenReport


def open(folder: str | Path) -> ReleasedFlows | ReleasedTrajectories:
    """Return the release that a folder holds, of flows or of trajectories, as its manifest says.

    Parameters
    ----------
    folder
        What ``save``, or ``tripcloak anonymise --out``, has written.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     made = tc.anonymise(trips, zones="h3:7", out=f"{place}/out")
    ...     release = tc.open(f"{place}/out")
    ...     release.flows.equals(made.flows), release.audit(against=trips).safe
    (True, True)
    """
    given = Path(folder)
    facts, public = read_manifest(given), public_part(given)
    if facts["kind"] == "trajectories":
        return ReleasedTrajectories(PublicFolder(public, facts, ("samples",)), home=given)
    return ReleasedFlows(PublicFolder(public, facts, TABLES), home=given)


def audit(
    folder: str | Path,
    against: Inputs,
    *,
    k: float | None = None,
    m: int | None = None,
    l: int | None = None,  # noqa: E741
    l_places: int | None = None,
    t: float | None = None,
    dominance: float | None = None,
    p_percent: float | None = None,
    zones_from: str | Path | None = None,
    sign: str | Path | None = None,
    memory: str | None = None,
    progress: Shown = None,
) -> ReleaseAudit:
    """Return what an audit finds that counts everything afresh from the raw input.

    Keywords are those of ``tripcloak audit``: what was ordered, where the release must hold it even if its
    manifest promises less. Of trajectories, k alone can be ordered.

    Parameters
    ----------
    folder
        What ``save``, or ``tripcloak anonymise --out``, has written.
    against
        The raw input: a table, paths, or several of these.
    zones_from
        The release or series that zones were taken from, to be compared with.
    sign
        A private key (``tripcloak keygen``) that signs the verdict, which is then published beside the
        manifest; nothing else can be ordered.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = tc.anonymise(trips, zones="h3:7", out=f"{place}/out")
    ...     [tc.audit(f"{place}/out", against=trips, k=k).safe for k in (10, 20)]
    [True, False]
    """
    ordered: dict[str, Any] = {"k": k, "m": m, "l": l, "l_places": l_places, "t": t, "zones_from": zones_from}
    ordered |= {"dominance": dominance, "p_percent": p_percent}
    asked = {name: value for name, value in ordered.items() if value is not None}
    release = open(folder)
    _refuse_of_flows(release, set(asked) - {"k"})
    return release.audit(against, sign=sign, memory=memory, progress=progress, **asked)


def check(
    folder: str | Path,
    *,
    key: str | Path | None = None,
    zones_from: str | Path | None = None,
    memory: str | None = None,
    progress: Shown = None,
) -> CheckedRelease:
    """Return what a release shows by itself: whether it is untouched, what it promises, and what not.

    Needs the public part alone, of flows or of trajectories, wherever it lies and whatever it is called.

    Parameters
    ----------
    folder
        The public folder of a release, or the folder that holds it.
    key
        The file with the public key of the publisher, who must then have signed the release.
    zones_from
        Of flows: the release or series that zones were taken from, to be compared with.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = tc.anonymise(trips, zones="h3:7", out=f"{place}/out")
    ...     found = tc.check(f"{place}/out/release")
    >>> found.untouched, found.promised[0]
    (True, 'Every flow holds at least 10 people.')
    """
    from tripcloak.ground.keys import read_public_key
    from tripcloak.receiving.check import check_release

    public = None if key is None else read_public_key(Path(key))
    with shown(progress) as told:
        earlier = None if zones_from is None else Path(zones_from)
        found = check_release(Path(folder), key=public, earlier=earlier, memory=memory, progress=told)
    return CheckedRelease(found)


def report(
    folder: str | Path,
    *,
    out: str | Path | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    logo: str | Path | None = None,
    background: str | Path | None = None,
    public_only: bool = False,
    force: bool = False,
) -> WrittenReport:
    """Return where the reports of a release are, which this writes: one page each that tells everything.

    The public one may be published. Where the private part is at hand, a second page is written into
    ``private/``, which shows the original beside the release and must stay inside.

    Parameters
    ----------
    folder
        The folder that holds a release of flows or of trajectories, or its public part.
    out
        The page to write; ``report.html`` in the folder without.
    title, subtitle, logo
        Heading, the line below it, and a picture beside it.
    background
        Streets, water, borders to draw below the zones: GeoJSON or PMTiles.
    public_only
        Write no private report, even if it could be.
    force
        Replace reports that are there.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = tc.anonymise(trips, zones="h3:7", out=f"{place}/out")
    ...     written = tc.report(f"{place}/out", title="Trips in May")
    ...     written.public.name, written.private.parent.name
    ('report.html', 'private')
    """
    from tripcloak.ground.given_paths import given_path, output_path
    from tripcloak.reporting.content import Dressing
    from tripcloak.reporting.writing import write_report

    pictures = {"logo": logo, "background": background}
    found = {name: None if path is None else given_path(path) for name, path in pictures.items()}
    dressing = Dressing(title=title, subtitle=subtitle, **found)
    page = None if out is None else output_path(out)
    return write_report(Path(folder), dressing, out=page, private=not public_only, force=force)


def measures(
    folder: str | Path,
    against: Inputs,
    *,
    volume: str | None = None,
    memory: str | None = None,
    progress: Shown = None,
) -> ReleaseMeasures:
    """Return what a release is still good for; the numbers look at unreleased data and stay inside.

    Keywords are those of ``tripcloak measures``.

    Parameters
    ----------
    folder
        What ``save``, or ``tripcloak anonymise --out``, has written.
    against
        The raw input: a table, paths, or several of these.
    volume
        Of flows: ``trips`` or ``population``; what was protected if not given.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     made = tc.anonymise(trips, zones="h3:7", out=f"{place}/out")
    ...     tc.measures(f"{place}/out", against=trips)["G"] == made.measures()["G"]
    True
    """
    asked = {} if volume is None else {"volume": volume}
    release = open(folder)
    _refuse_of_flows(release, set(asked))
    return release.measures(against, memory=memory, progress=progress, **asked)


def score(
    made: Inputs,
    against: Inputs,
    *,
    scale: str = "nist",
    areas: str = "h3:7",
    subsamples: Sequence[float] = (10, 40, 70),
    memory: str | None = None,
    progress: Shown = None,
) -> ReleaseScore:
    """Return what a release of flows, or a synthetic table, is worth on the scale of a contest.

    ``nist`` is sprint 3 of NIST's temporal map challenge: marginals by area and shift, the graph of areas,
    and how many individuals are alike. The numbers look at unreleased data and stay inside.

    Parameters
    ----------
    made
        The folder of a release, or a table of trips in the contest's schema.
    against
        The raw input of the release, or the true table in the contest's schema.
    areas
        Of a release: the tiles that stand for the contest's areas.
    subsamples
        Percentages of true individuals that are scored beside it.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = tc.anonymise(trips, zones="h3:7", out=f"{place}/out")
    ...     found = tc.score(f"{place}/out", against=trips, subsamples=[40])
    >>> found.table["name"].tolist(), 0 < found.score < 1000
    (['release', '40 %'], True)
    """
    from tripcloak.analysis.scoring import score_release, score_tables

    if scale != "nist":
        raise InputError(f"{called('scale')} must be nist; got {scale!r}")
    truth = take(against, Points())
    with shown(progress) as told:
        if isinstance(made, (str, os.PathLike)) and Path(made).is_dir():
            asked: dict[str, Any] = {"areas": areas, "subsamples": subsamples}
            return ReleaseScore(score_release(Path(made), truth, **asked, memory=memory, progress=told))
        tables = take(made, Points())
        return ReleaseScore(score_tables(tables, truth, subsamples=subsamples, memory=memory, progress=told))


def export(folder: str | Path, to: str, out: str | Path, *, force: bool = False) -> Path | str:
    """Write a release in the format of another tool, and return where it is.

    Keywords are those of ``tripcloak export``.

    Parameters
    ----------
    folder
        The folder of a release, or its public part, which is all that is read.
    to
        One of spanishoddata, hive, geoparquet, gpkg, omx, flowmap, kepler, duckdb and postgresql; mfjson
        of trajectories.
    out
        A file; a folder for hive and flowmap, ``postgresql://user@host/name#schema`` for postgresql.

    Examples
    --------
    >>> import tempfile
    >>> import tripcloak as tc
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = tc.anonymise(tc.City(trips=2_000, people=200).table(), zones="h3:7", out=f"{place}/out")
    ...     tc.export(f"{place}/out", to="spanishoddata", out=f"{place}/od.parquet").name
    'od.parquet'
    """
    from tripcloak.exporting.export import export_release

    return export_release(Path(folder), to, out, force=force).path


def _refuse_of_flows(release: ReleasedFlows | ReleasedTrajectories, asked: set[str]) -> None:
    """Raise where more is asked of a release of trajectories than there is."""
    if asked and isinstance(release, ReleasedTrajectories):
        raise InputError(f"{called(min(asked))} is for releases of flows, and this is one of trajectories")
