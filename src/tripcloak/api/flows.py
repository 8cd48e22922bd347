"""The front door's verbs on flows, and what they give: anonymise, describe, compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from tripcloak.api.card import INTERNAL, CardTable, Fact, card
from tripcloak.api.inputs import Inputs, Points, take
from tripcloak.api.keywords import AnonymiseKeywords, CompareKeywords, DescribeKeywords
from tripcloak.api.ledgers import LedgerKept
from tripcloak.api.made_flows import MadeFlows
from tripcloak.api.progress import Shown, shown
from tripcloak.api.released import PrivatePart, Released, key_of, refuse_before
from tripcloak.api.results import (
    InputSummary,
    MethodComparison,
    ReleaseAudit,
    ReleaseMeasures,
    figure,
    summary_of_flows,
)
from tripcloak.api.tables import need, to_geopandas, to_pandas
from tripcloak.api.verbs import plain, verb
from tripcloak.api.zones import with_zones
from tripcloak.flows.keywords import flow_method, segments, tables_wanted, zoning
from tripcloak.flows.keywords import keywords as declared
from tripcloak.flows.protection import round_to
from tripcloak.ground.errors import InputError
from tripcloak.ground.given_paths import output_path
from tripcloak.ground.options import values_of
from tripcloak.ground.signatures import refuse_failed
from tripcloak.ground.spelling import called
from tripcloak.pages.presenting import presented
from tripcloak.records.files.frames import Input
from tripcloak.records.keywords import trip_source

if TYPE_CHECKING:
    import geopandas
    import pandas
    import pyarrow as pa

    from tripcloak.fairness.segments import MadeSegments
    from tripcloak.flows.anonymise import MadeRelease, ReleaseRequest
    from tripcloak.flows.methods import FlowMethod
    from tripcloak.records.source import TripSource

ENDS = {
    "": ("lat", "lon"),
    "origin": ("origin_lat", "origin_lon"),
    "destination": ("destination_lat", "destination_lon"),
}
"""The columns that the points of a geometry become, by the role that names it."""


@overload
def anonymise(
    data: Inputs, /, *, segment: None = None, progress: Shown = None, **keywords: Unpack[AnonymiseKeywords]
) -> ReleasedFlows: ...
@overload
def anonymise(
    data: Inputs,
    /,
    *,
    segment: str | Sequence[str],
    segment_joint: Literal[True],
    progress: Shown = None,
    **keywords: Unpack[AnonymiseKeywords],
) -> ReleasedFlows: ...
@overload
def anonymise(
    data: Inputs,
    /,
    *,
    segment: str | Sequence[str],
    segment_joint: Literal[False] = False,
    progress: Shown = None,
    **keywords: Unpack[AnonymiseKeywords],
) -> ReleasedSegments: ...
@verb(lambda: declared("anonymise"), AnonymiseKeywords, saves=True)
def anonymise(
    data: Inputs,
    /,
    *,
    segment: str | Sequence[str] | None = None,
    segment_joint: bool = False,
    progress: Shown = None,
    **keywords: Any,
) -> ReleasedFlows | ReleasedSegments:
    """Return a safe release of trips: flows between zones, with at least k people behind every one.

    Reads, finds the zones, checks the result with code of its own, and measures it. What is not safe is never
    returned. Keywords and their defaults are those of ``tripcloak anonymise``.

    Parameters
    ----------
    data
        A data frame of pandas, GeoPandas or Polars, an Arrow table, a DuckDB relation, or the path of a
        Parquet or CSV file, a glob or a folder; or a list of these. Columns are found by their usual names.
    segment, segment_joint
        Part the people by columns: one release a segment, or one in which every segment is safe.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.
    **keywords
        ``k=10``, ``unit="travellers"``, ``suppress=0.1``, ``zones="h3:9"``, ``method="twincut"`` (or the
        method's object, whose own promise and limit count unless others are given), ``person="bike_id"``,
        ``out="folder"`` to save it as well, ``ledger="folder"`` to record it beside earlier releases of the
        same people, and all others of the command line.

    Examples
    --------
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> release = tc.anonymise(trips, k=10, zones="h3:8")
    >>> points = ["origin_lat", "origin_lon", "destination_lat", "destination_lon"]
    >>> release.flows.columns.tolist() == ["origin", "destination", "trips", "travellers", *points]
    True
    >>> int(release.flows.travellers.min()) >= 10, release.audit().safe
    (True, True)
    """
    given = {"segment": segment, "segment_joint": segment_joint, **keywords}
    out, force, sign = given.pop("out", None), given.pop("force", False), given.pop("sign", None)
    several = segment is not None and not segment_joint
    refuse_before(out, force=force, sign=sign, engine=None if several else given.get("engine"))
    kept = LedgerKept.of(given, out)
    request, values = _request(data, given)
    with shown(progress) as told:
        made = _made(kept.reading(request), values, told)
    if out is not None:
        with kept.recording(made, out):
            made.save(out, force=force, sign=sign)
    return made


@verb(lambda: declared("describe"), DescribeKeywords)
def describe(
    data: Inputs, /, *, progress: Shown = None, **keywords: Unpack[DescribeKeywords]
) -> InputSummary:
    """Return what is in a table of trips, how much of it is below k at each height, and what is realistic.

    The numbers look at unreleased data: keep them inside. Keywords are those of ``tripcloak describe``.

    Parameters
    ----------
    data
        As for :func:`anonymise`.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.

    Examples
    --------
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> tc.describe(trips, k=10).numbers["travellers"]
    200
    """
    from tripcloak.flows.describe import describe as looked_at

    source, values = flow_source("describe", data, dict(keywords))
    with shown(progress) as told:
        found = looked_at(source, zoning(values), k=values["k"], memory=values["memory"], progress=told)
    return summary_of_flows(found)


@verb(lambda: declared("compare"), CompareKeywords, saves=True)
def compare(
    data: Inputs, /, *, progress: Shown = None, **keywords: Unpack[CompareKeywords]
) -> MethodComparison:
    """Return methods side by side on the same trips, all measured and audited, and which one to use.

    Every method runs in a process of its own. The numbers look at unreleased data: keep them inside.
    Keywords are those of ``tripcloak compare``; ``k`` and ``suppress`` may be several.

    Parameters
    ----------
    data
        As for :func:`anonymise`.
    progress
        Whether to show progress: in notebooks alone if not given; or a function to call.

    Examples
    --------
    >>> import tripcloak as tc
    >>> trips = tc.City(trips=2_000, people=200).table()
    >>> found = tc.compare(trips, k=[5, 10], methods=["twincut", "oigh"], zones="h3:7")
    >>> found.table[["method", "k", "audit"]].values.tolist()
    [['twincut', 5, 'safe'], ['oigh', 5, 'safe'], ['twincut', 10, 'safe'], ['oigh', 10, 'safe']]
    """
    from tripcloak.comparing.compare import ComparisonPlan
    from tripcloak.comparing.compare import compare as compared

    given = dict(keywords)
    out, force = given.pop("out", None), bool(given.pop("force", False))
    source, values = flow_source("compare", data, given)
    with shown(progress) as told:
        found = MethodComparison(compared(ComparisonPlan.of(source, values), told))
    if out is not None:
        found.save(str(out), force=force)
    return found


class ReleasedFlows(Released):
    """A release of flows: tables of flows and zones, a map, and a manifest, all of which may be published.

    Made by :func:`tripcloak.anonymise`, or read from a folder by :func:`tripcloak.open`.
    """

    @property
    def flows(self) -> pandas.DataFrame:
        """Return the released flows: zones of every axis, published numbers, and points of the zones."""
        return self._frame("flows")

    @property
    def zones(self) -> geopandas.GeoDataFrame:
        """Return the released zones of every axis, with their size, volume and outline in degrees."""
        return to_geopandas(self.to_arrow("zones"))

    @property
    def segments(self) -> pandas.DataFrame | None:
        """Return the flows segment by segment, where every segment is safe; else None."""
        return self._frame("segments") if "segments" in self._published.names else None

    @property
    def tables(self) -> pandas.DataFrame | None:
        """Return totals and coarser flows (``with_margins``, ``with_levels``), if asked for; else None.

        A row a cell: ``origin_level`` and ``destination_level`` say what it is a sum over.
        """
        return self._frame("tables") if "tables" in self._published.names else None

    @property
    def levels(self) -> geopandas.GeoDataFrame | None:
        """Return the zones of every level of :attr:`tables` with their outlines, if any; else None."""
        return to_geopandas(self.to_arrow("levels")) if "levels" in self._published.names else None

    @property
    def private(self) -> PrivatePart:
        """Return what must stay inside: ``groups`` (which flow went where), ``hierarchy``, ``run``."""
        return PrivatePart(self._home, self._made, {"groups": _groups, "hierarchy": _hierarchy})

    def _write(self, out: Path, *, force: bool = False) -> None:
        from tripcloak.flows.anonymise import write_release

        write_release(self._made, out, force=force)

    def audit(
        self,
        against: Inputs | None = None,
        *,
        k: float | None = None,
        m: int | None = None,
        l: int | None = None,  # noqa: E741
        l_places: int | None = None,
        t: float | None = None,
        dominance: float | None = None,
        p_percent: float | None = None,
        zones_from: str | PathLike[str] | None = None,
        sign: str | PathLike[str] | None = None,
        memory: str | None = None,
        progress: Shown = None,
    ) -> ReleaseAudit:
        """Return what an audit finds that counts everything afresh from the raw input.

        Parameters
        ----------
        against
            The raw input; what the release was made from if not given.
        k, m, l, l_places, t, dominance, p_percent
            What was ordered, where the release must hold it even if its manifest promises less.
        zones_from
            The release or series that zones were taken from, to be compared with.
        sign
            A private key (``tripcloak keygen``) that signs the verdict, which is then published beside the
            manifest; nothing else can be ordered.
        """
        from tripcloak.flows.checking import audit_against

        inputs, key = self._inputs(against), self._key(sign)
        diversity = {"tiles": l, "places": l_places}
        parts = {"dominance": dominance, "p-percent": p_percent}
        with shown(progress) as told, self._at_home() as home:
            verdict = audit_against(
                home,
                inputs,
                k=k,
                known_items=m,
                diversity={what: least for what, least in diversity.items() if least is not None},
                closeness=t,
                parts={kind: number for kind, number in parts.items() if number is not None},
                earlier=None if zones_from is None else Path(zones_from),
                sign=key,
                memory=memory,
                progress=told,
            )
        return self._judged(verdict, k, m, l, l_places, t, dominance, p_percent)

    def measures(
        self,
        against: Inputs | None = None,
        *,
        volume: str | None = None,
        memory: str | None = None,
        progress: Shown = None,
    ) -> ReleaseMeasures:
        """Return what the release is still good for; the numbers look at unreleased data and stay inside.

        Parameters
        ----------
        against
            The raw input; what the release was made from if not given.
        volume
            ``trips`` or ``population``; what was protected if not given.
        """
        from tripcloak.flows.checking import measure_against

        if self._made is not None and against is None and volume is None:
            return ReleaseMeasures(self._made.measures)
        inputs = self._inputs(against)
        with shown(progress) as told, self._at_home() as home:
            return ReleaseMeasures(measure_against(home, inputs, volume=volume, memory=memory, progress=told))

    def plot(self, axis: str = "origin", *, kind: str | None = None, ax: Any = None, **options: Any) -> Any:
        """Return the axes of a plot of the zones, shaded by volume; or a whole figure for a publication.

        Parameters
        ----------
        axis
            ``origin`` or ``destination``.
        kind
            The figure: zones, coarseness, flows, support or cdf, as ``tripcloak plot`` draws them; what is
            returned has ``savefig``. The other parameters play no part then.
        ax
            Axes of matplotlib to draw on; new ones if not given.
        **options
            Passed on to GeoPandas.
        """
        need("matplotlib", "a plot")
        if kind is not None:
            from tripcloak.api.figures import draw
            from tripcloak.exporting.export import PublicTables

            return draw(PublicTables(dict(self.facts), self.to_arrow("flows"), self.to_arrow("zones")), kind)
        zones = self.zones
        zones = zones[(zones.axis == axis) & zones.geometry.notna()]
        if not len(zones):
            raise InputError(f"there are no outlines of {axis} zones to draw")
        volume = self._published.facts["volume"]
        usual = {"cmap": "YlGnBu", "edgecolor": "white", "linewidth": 0.3, "legend": True}
        drawn = zones.plot(column=volume, ax=ax, **{"norm": _by_tens(), **usual, **options})
        drawn.set_title(f"Released {volume} by {axis}")
        drawn.set_axis_off()
        return drawn

    @property
    def _title(self) -> str:
        return f"Released flows ({self._published.facts['method']})"

    def _sentences(self) -> list[str]:
        facts = self._published.facts
        zones = facts["zones"]
        times = f" at {_counted(zones['times'], 'time')}" if "times" in zones else ""
        ends = f"{zones['origins']:,} origin and {_counted(zones['destinations'], 'destination zone')}"
        return [f"{_counted(facts['groups'], 'flow')} between {ends}{times}", self._protected()]

    def _card_facts(self) -> list[Fact]:
        facts = self._published.facts
        zones = facts["zones"]
        size = facts["typical_zone_km2"]
        bound = facts.get("bound")
        times = f"at {_counted(zones['times'], 'time')}" if "times" in zones else ""
        return [
            Fact("Protected", self._protected()),
            Fact("Released", _counted(facts["groups"], "flow"), f"{facts['released']:,} {facts['volume']}"),
            Fact(
                "Zones",
                f"{_counted(zones['origins'], 'origin')}, {_counted(zones['destinations'], 'destination')}",
                times,
            ),
            Fact("Withheld", facts["withheld"]["words"]),
            *([] if size is None else [_typical_zone(size, facts["volume"])]),
            *([] if bound is None else [_certificate(bound)]),
        ]

    def _take(self, against: Inputs) -> tuple[Input, ...]:
        return take(against, Points({}, ENDS))


class ReleasedSegments(Mapping[str, ReleasedFlows]):
    """One release a segment, by its name; and what safety costs each.

    Attributes
    ----------
    withheld : dict
        Segments that cannot be made safe on their own, and why.
    """

    def __init__(self, made: MadeSegments) -> None:
        self._made = made
        self._released = {
            name: ReleasedFlows(MadeFlows(one), made=one) for name, one in made.released.items()
        }
        self.withheld = dict(made.withheld)

    def __getitem__(self, name: str) -> ReleasedFlows:
        return self._released[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._released)

    def __len__(self) -> int:
        return len(self._released)

    @property
    def fairness(self) -> pandas.DataFrame:
        """Return what safety costs each segment, as it is and at equal size; internal."""
        import pyarrow as pa

        return to_pandas(pa.Table.from_pylist(self._made.fairness.to_dict()["segments"]))

    def save(self, out: str | Path, *, force: bool = False, sign: str | PathLike[str] | None = None) -> Path:
        """Write every release to a folder of its own, and the fairness table beside them, below ``out``.

        With a private key (``sign``) every folder is audited, and its verdict signed.
        """
        from tripcloak.fairness.segments import write_segments

        key_of(sign)
        home = output_path(out)
        folders = write_segments(self._made, home, force=force)
        for name, folder in folders.items():
            self._released[name]._home = folder
            if sign is not None:
                refuse_failed(folder, self._released[name].audit(sign=sign).broken)
        return home

    def __repr__(self) -> str:
        held = f"; {len(self.withheld):,} withheld: {_some(self.withheld)}" if self.withheld else ""
        return f"<ReleasedSegments: {_counted(len(self), 'release')}: {_some(self)}{held}>"

    def _repr_html_(self) -> str:
        from tripcloak.fairness.page import fairness_words

        facts = {**self._made.fairness.to_dict(), "withheld": self.withheld}
        columns = ("segment", "groups", "G", "GDM", "S", "G_at_equal_size")
        rows = [[figure(row.get(name)) for name in columns] for row in facts["segments"]]
        return card(
            f"{len(self)} releases, one a segment",
            words=fairness_words(facts),
            table=CardTable(columns=[name.replace("_", " ") for name in columns], rows=rows),
            foot=INTERNAL,
        )


def _request(data: Inputs, given: dict[str, Any]) -> tuple[ReleaseRequest, dict[str, Any]]:
    from tripcloak.flows.anonymise import ReleaseRequest

    chosen = given.pop("method", None)
    if isinstance(chosen, str):
        given["method"], chosen = chosen, None
    elif isinstance(chosen, type):
        given["method"], chosen = getattr(chosen, "name", chosen.__name__), None
    source, values = flow_source("anonymise", data, given)
    by, zones = segments(values), zoning(values)
    if chosen is not None and zones.kept is not None:
        raise InputError(f"{called('zones_from')} keeps zones, and needs no {called('method')}; leave it out")
    method = flow_method(values, zones.kept) if chosen is None else _with_given(chosen, given, values)
    request = ReleaseRequest(
        source=source,
        zoning=zones,
        method=method,
        memory=values["memory"],
        engine=values["engine"],
        master=values["master"],
        publish=values["publish"],
        round_to=round_to(values, method),
        tables=tables_wanted(values),
        **presented(values),
        every_segment=by if values["segment_joint"] else (),
        where_safe=values["segment_where_safe"],
    )
    return request, values


def _with_given(method: FlowMethod, given: Mapping[str, Any], values: dict[str, Any]) -> FlowMethod:
    """Return a method's object, with what was given beside it in place of its own."""
    from tripcloak.flows.methods import FlowMethod

    if not isinstance(method, FlowMethod):
        raise InputError(
            f"{called('method')} takes the name of a method or its object; got a {type(method).__name__}"
        )
    asked = flow_method({**values, "method": method.name})
    if given.get("slot") is not None:
        raise InputError(f"{called('slot')} goes with the name of a method, not with its object")
    told = {name for name in given if given[name] is not None}
    asks = ("k", "unit", "k_population", "l", "l_places", "t", "dominance", "p_percent", "hide_choices")
    of_promise = told & set(asks)
    fields = {
        **({"promise": asked.promise} if of_promise else {}),
        **({"suppression_limit": asked.suppression_limit} if "suppress" in told else {}),
        **{n: getattr(asked, n) for n in told if n in method.__dataclass_fields__},
    }
    return replace(method, **fields)


def flow_source(name: str, data: Inputs, given: dict[str, Any]) -> tuple[TripSource, dict[str, Any]]:
    """Return what to read, and the value of every keyword."""
    settled = plain(with_zones(given))
    columns = {role: text for role, text in settled.items() if isinstance(text, str)}
    points = Points(columns, ENDS)
    inputs = take(data, points)
    zones = settled.pop("zones", None)
    others = {key: value for key, value in settled.items() if key not in points.used}
    values = values_of(declared(name), others)
    values["zones"] = str(Path(zones).resolve()) if isinstance(zones, (str, PathLike)) else zones
    return trip_source(inputs, values), values


def _made(request: ReleaseRequest, values: Mapping[str, Any], told: Any) -> ReleasedFlows | ReleasedSegments:
    from tripcloak.flows.anonymise import make_release

    if values["segment"] and not values["segment_joint"]:
        from tripcloak.fairness.segments import make_segments

        return ReleasedSegments(
            make_segments(request, segments(values), draws=values["draws"], progress=told)
        )
    made = make_release(request, told)
    return ReleasedFlows(MadeFlows(made), made=made)


def _groups(made: MadeRelease) -> pa.Table:
    import pyarrow as pa

    from tripcloak.flows.release.tables import groups_batches

    table = pa.concat_tables(groups_batches(made.matrix, made.release))
    # As the file has them, in which dictionaries are plain text.
    plain = [column.cast(getattr(column.type, "value_type", column.type)) for column in table.columns]
    return pa.table(plain, names=table.column_names)


def _hierarchy(made: MadeRelease) -> pa.Table:
    from tripcloak.flows.release.tables import hierarchy_table

    return hierarchy_table(made.matrix)


def _typical_zone(km2: float, volume: str) -> Fact:
    from tripcloak.flows.report.plain import area_words

    return Fact("Typical zone", area_words(km2), f"half of the {volume} begin in one as small")


def _counted(number: int, noun: str) -> str:
    """Return how many there are of something that is released.

    >>> _counted(1, "flow"), _counted(1963, "flow")
    ('1 flow', '1,963 flows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _some(names: Iterable[str], most: int = 5) -> str:
    """Return the first of some names, which may hold commas themselves.

    >>> _some(["sex=F, age=0-19", "sex=M, age=0-19"]), _some("abc", most=2)
    ('sex=F, age=0-19; sex=M, age=0-19', 'a; b; ...')
    """
    listed = list(names)
    return "; ".join([*listed[:most], *(["..."] if len(listed) > most else [])])


def _certificate(bound: Mapping[str, Any]) -> Fact:
    return Fact("Best possible", f"within {bound['within_percent']} %", "of the least loss that there can be")


def _by_tens() -> Any:
    from matplotlib.colors import LogNorm

    return LogNorm()
