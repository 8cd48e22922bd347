"""The front door's verbs on trajectories, and what they give: anonymise, describe, compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tripcloak.api.card import Fact
from tripcloak.api.inputs import Inputs, Points, take
from tripcloak.api.keywords import (
    AnonymiseTrajectoriesKeywords,
    CompareTrajectoriesKeywords,
    FixKeywords,
)
from tripcloak.api.ledgers import LedgerKept
from tripcloak.api.progress import Shown, shown
from tripcloak.api.released import PrivatePart, PublicPart, Released, refuse_before
from tripcloak.api.results import (
    InputSummary,
    MethodComparison,
    ReleaseAudit,
    ReleaseMeasures,
    summary_of_fixes,
)
from tripcloak.api.tables import need, to_geopandas
from tripcloak.api.verbs import plain, verb
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import values_of
from tripcloak.ground.spelling import called
from tripcloak.pages.presenting import presented
from tripcloak.records.files.frames import Input
from tripcloak.trajectories.keywords import keywords as declared
from tripcloak.trajectories.keywords import trajectory_method, trajectory_methods, trajectory_source

if TYPE_CHECKING:
    import geopandas
    import pandas
    import pyarrow as pa

    from tripcloak.trajectories.anonymise import MadeTrajectories
    from tripcloak.trajectories.methods.method import TrajectoryMethod
    from tripcloak.trajectories.reading import TrajectorySource

ENDS = {"": ("lat", "lon")}
"""The columns that the points of a geometry become."""


@verb(lambda: declared("anonymise"), AnonymiseTrajectoriesKeywords, saves=True)
def anonymise(
    points: Inputs, /, *, progress: Shown = None, **keywords: Unpack[AnonymiseTrajectoriesKeywords]
) -> ReleasedTrajectories:
    """Return a safe release of trajectories: boxes in space and time, each person hidden among k.

    Keywords and their defaults are those of ``tripcloak trajectories anonymise``.

    Parameters
    ----------
    points
        A table with a row for every fix (person, time, place): a data frame of pandas, GeoPandas (points) or
        Polars, an Arrow table, a DuckDB relation, or paths; or a list of these.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.
    **keywords
        ``k=5``, ``method="k-scale"`` (or the method's object, whose own k counts unless another is given),
        ``person="phone"``, ``since="2024-05-01"``, ``out="folder"`` to save it as well,
        ``ledger="folder"`` to charge its noise to an account, and all others of the command line.

    Examples
    --------
    >>> import tripcloak as tc
    >>> calls = tc.Cdr(users=20, days=2).table()
    >>> release = tc.trajectories.anonymise(calls, k=2)
    >>> release.facts["promise"]["k"], release.audit().safe
    (2, True)
    """
    from tripcloak.trajectories.anonymise import TrajectoryReleaseRequest

    given: dict[str, Any] = dict(keywords)
    out, force, sign = given.pop("out", None), given.pop("force", False), given.pop("sign", None)
    refuse_before(out, force=force, sign=sign, engine=given.get("engine"))
    kept = LedgerKept.of(given, out)
    chosen = given.pop("method", None)
    if isinstance(chosen, str):
        given["method"], chosen = chosen, None
    elif isinstance(chosen, type):
        given["method"], chosen = getattr(chosen, "name", chosen.__name__), None
    source, values = _source("anonymise", points, given)
    request = TrajectoryReleaseRequest(
        source=source,
        method=trajectory_method(values) if chosen is None else _with_given(chosen, given),
        memory=values["memory"],
        formats=values["formats"],
        engine=values["engine"],
        master=values["master"],
        **presented(values),
    )
    with shown(progress) as told:
        made = kept.trajectories(request, told)
    release = ReleasedTrajectories(MadePublic(made), made=made)
    if out is not None:
        with kept.recording(release, out):
            release.save(out, force=force, sign=sign)
    return release


@verb(lambda: declared("describe"), FixKeywords)
def describe(points: Inputs, /, *, progress: Shown = None, **keywords: Unpack[FixKeywords]) -> InputSummary:
    """Return what is in a table of fixes: people, samples, resolution, and how they are spread.

    The numbers look at unreleased data: keep them inside. Keywords are those of
    ``tripcloak trajectories describe``.

    Parameters
    ----------
    points
        As for :func:`anonymise`.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.

    Examples
    --------
    >>> import tripcloak as tc
    >>> calls = tc.Cdr(users=20, days=2).table()
    >>> tc.trajectories.describe(calls).numbers["people"]
    20
    """
    from tripcloak.trajectories.reading.reading import describe_fixes

    source, values = _source("describe", points, dict(keywords))
    with shown(progress) as told:
        return summary_of_fixes(describe_fixes(source, memory=values["memory"], progress=told))


@verb(lambda: declared("compare"), CompareTrajectoriesKeywords, saves=True)
def compare(
    points: Inputs, /, *, progress: Shown = None, **keywords: Unpack[CompareTrajectoriesKeywords]
) -> MethodComparison:
    """Return methods one after the other on the same trajectories, all measured and audited.

    The numbers look at unreleased data: keep them inside. Keywords are those of
    ``tripcloak trajectories compare``; options of single methods go to those that have them.

    Parameters
    ----------
    points
        As for :func:`anonymise`.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.

    Examples
    --------
    >>> import tripcloak as tc
    >>> calls = tc.Cdr(users=20, days=2).table()
    >>> tc.trajectories.compare(calls, methods="k-scale,glove").table.safe.tolist()
    [True, True]
    """
    from tripcloak.comparing.trajectories import compare_trajectories

    given = dict(keywords)
    out, force = given.pop("out", None), bool(given.pop("force", False))
    source, values = _source("compare", points, given)
    methods = trajectory_methods(values)
    with shown(progress) as told:
        found = MethodComparison(
            compare_trajectories(source, methods, memory=values["memory"], progress=told)
        )
    if out is not None:
        found.save(str(out), force=force)
    return found


class MadePublic(PublicPart):
    """The public part of a release of trajectories in memory, under pseudonyms that are drawn once."""

    names = ("samples",)

    def __init__(self, made: MadeTrajectories) -> None:
        self._made = made

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """Return what the manifest says."""
        return self._made.named.published.manifest

    def table(self, name: str) -> pa.Table:
        """Return one of the tables."""
        import pyarrow as pa

        from tripcloak.trajectories.release.published import instant_type, sample_batches

        table = pa.concat_tables(sample_batches(self._made.named.published))
        # Parquet knows no seconds: the file has them in thousandths.
        instant = instant_type(self._made.named.published.grid, "ms")
        times = {name: pa.field(name, instant) for name in ("t_start", "t_end")}
        return table.cast(pa.schema([times.get(one.name, one) for one in table.schema]))

    def map_page(self) -> str:
        """Return the map, as one page of HTML."""
        from tripcloak.trajectories.report.map import trajectory_pages

        return trajectory_pages(self._made.named.published)["map.html"]


class ReleasedTrajectories(Released):
    """A release of trajectories: boxes in space and time under pseudonyms, a map, and a manifest.

    Made by :func:`tripcloak.trajectories.anonymise`, or read from a folder by :func:`tripcloak.open`.
    """

    @property
    def samples(self) -> pandas.DataFrame:
        """Return the released samples by trajectory and time: when, where in metres, where in degrees."""
        return self._frame("samples")

    @property
    def boxes(self) -> geopandas.GeoDataFrame:
        """Return the released samples with their boxes as outlines in degrees."""
        import pyarrow as pa
        import shapely

        table = self.to_arrow("samples")
        edges = (table[name].to_numpy() for name in ("lon_min", "lat_min", "lon_max", "lat_max"))
        outlines = pa.array(shapely.to_wkb(shapely.box(*edges)).tolist(), pa.binary())
        return to_geopandas(table.append_column("geometry", outlines))

    @property
    def private(self) -> PrivatePart:
        """Return what must stay inside: ``mapping`` (whose trajectory is whose), ``run``, ``made``."""
        return PrivatePart(self._home, self._made, {"mapping": _mapping})

    def _write(self, out: Path, *, force: bool = False) -> None:
        from tripcloak.trajectories.anonymise import write_trajectories

        write_trajectories(self._made, out, force=force)

    def audit(
        self,
        against: Inputs | None = None,
        *,
        k: int | None = None,
        sign: str | PathLike[str] | None = None,
        memory: str | None = None,
        progress: Shown = None,
    ) -> ReleaseAudit:
        """Return what an audit finds that counts everything afresh from the raw input.

        Parameters
        ----------
        against
            The raw input; what the release was made from if not given.
        k
            The k that was ordered, which the release must reach even if its manifest promises less.
        sign
            A private key (``tripcloak keygen``) that signs the verdict, which is then published beside the
            manifest; nothing else can be ordered.
        """
        from tripcloak.trajectories.checking import audit_trajectories_against

        inputs, key = self._inputs(against), self._key(sign)
        with shown(progress) as told, self._at_home() as home:
            verdict = audit_trajectories_against(home, inputs, k=k, sign=key, memory=memory, progress=told)
        return self._judged(verdict, k)

    def measures(
        self, against: Inputs | None = None, *, memory: str | None = None, progress: Shown = None
    ) -> ReleaseMeasures:
        """Return what the release is still good for; the numbers look at unreleased data and stay inside.

        Parameters
        ----------
        against
            The raw input; what the release was made from if not given.
        """
        from tripcloak.trajectories.checking import measure_trajectories_against

        if self._made is not None and against is None:
            return ReleaseMeasures(self._made.measures.to_dict())
        inputs = self._inputs(against)
        with shown(progress) as told, self._at_home() as home:
            return ReleaseMeasures(measure_trajectories_against(home, inputs, memory=memory, progress=told))

    def plot(self, *, ax: Any = None, **options: Any) -> Any:
        """Return the axes of a plot of all boxes; where many lie upon each other it is darker.

        Parameters
        ----------
        ax
            Axes of matplotlib to draw on; new ones if not given.
        **options
            Passed on to GeoPandas.
        """
        need("matplotlib", "a plot")
        boxes = self.boxes
        faint = max(0.02, min(0.5, 30 / len(boxes)))
        drawn = boxes.plot(ax=ax, **{"color": "#1c6fb0", "alpha": faint, "linewidth": 0, **options})
        drawn.set_title("Released samples")
        drawn.set_axis_off()
        return drawn

    @property
    def _title(self) -> str:
        return f"Released trajectories ({self._published.facts['method']})"

    def _sentences(self) -> list[str]:
        released = self._published.facts["released"]
        told = f"{released['trajectories']:,} trajectories of {released['samples']:,} samples"
        return [told, self._protected()]

    def _card_facts(self) -> list[Fact]:
        facts, samples = self._published.facts, self.to_arrow("samples")
        released = facts["released"]
        return [
            Fact("Protected", self._protected()),
            Fact(
                "Released", f"{released['trajectories']:,} trajectories", f"{released['samples']:,} samples"
            ),
            *_typical_sample(samples),
            Fact("Finest step", f"{facts['grid']['seconds']:,} s, {facts['grid']['metres']:,} m"),
        ]

    def _take(self, against: Inputs) -> tuple[Input, ...]:
        return take(against, Points({}, ENDS))


def _with_given(method: TrajectoryMethod, given: Mapping[str, Any]) -> TrajectoryMethod:
    """Return a method's object, with what was given beside it in place of its own."""
    from tripcloak.trajectories.methods.method import TrajectoryMethod

    if not isinstance(method, TrajectoryMethod):
        raise InputError(
            f"{called('method')} takes the name of a method or its object; got a {type(method).__name__}"
        )
    own = {name: given[name] for name in given if name in method.__dataclass_fields__}
    return replace(method, **{name: value for name, value in own.items() if value is not None})


def _source(name: str, points: Inputs, given: dict[str, Any]) -> tuple[TrajectorySource, dict[str, Any]]:
    """Return what to read, and the value of every keyword."""
    inputs = take(points, Points({}, ENDS))
    values = values_of(declared(name), plain(given))
    return trajectory_source(inputs, values), values


def _mapping(made: MadeTrajectories) -> pa.Table:
    from tripcloak.trajectories.release.writing import mapping_table

    return mapping_table(made.reading.trajectories, made.release, made.named)


def _typical_sample(samples: pa.Table) -> list[Fact]:
    """Return how long and how wide the middle one of all released samples is."""
    import numpy as np

    start, end = (samples[name].to_numpy().astype("datetime64[s]") for name in ("t_start", "t_end"))
    sides = [samples[f"{axis}_max"].to_numpy() - samples[f"{axis}_min"].to_numpy() for axis in "xy"]
    minutes = float(np.median((end - start).astype(float))) / 60
    metres = float(np.median(np.maximum(*sides)))
    wide = f"{metres:,.0f} m" if metres < 1000 else f"{metres / 1000:,.1f} km"
    return [Fact("Typical sample", f"{minutes:,.0f} min, {wide}", "long and wide, half are smaller")]
