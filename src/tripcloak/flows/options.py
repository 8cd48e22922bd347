"""The keywords on flows, one by one: what each is called, means, and may be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tripcloak.ground.options import Option
from tripcloak.records.keywords import KEPT_IN, NEEDS_APPROVALS


def zones(name: str, words: str, **said: Any) -> Option:
    """Return a keyword on zones and slots of time."""
    return Option(name=name, help=words, group="zones", **said)


def privacy(name: str, words: str, **said: Any) -> Option:
    """Return a keyword on what is promised."""
    return Option(name=name, help=words, group="privacy", **said)


def switch(name: str, words: str, group: Any = "privacy") -> Option:
    """Return a keyword that is off unless it is asked for."""
    return Option(name=name, help=words, kind="switch", default=False, group=group)


def several(one: Option, metavar: str, reads: str = "numbers") -> Option:
    """Return a keyword that takes several numbers in place of one."""
    words = f"{one.help.rstrip('.')}; several separated by commas."
    return replace(one, help=words, metavar=metavar, kind="text", reads=reads, group="compared")


USUAL_HIERARCHY = "h3:10"
"""What is used where no hierarchy and no zones are given."""

ZONES = (
    zones(
        "hierarchy",
        "h3:RES, h3:RES/root=RES|CELL, h3:RES/binary, quadtree:DEPTH, dendrogram, table:COL,COL.",
        metavar="SPEC",
        unset="dendrogram where there are zones, else h3:10",
    ),
    zones(
        "zones",
        "Zones: GeoJSON, GeoParquet, CSV, shapefile, GeoPackage or a bike-share feed's stations.",
        metavar="FILE",
        reads="path",
    ),
    zones(
        "zone_id",
        "Column of the zones file that holds the ids.",
        unset="the one that holds what trips name",
        metavar="COLUMN",
    ),
    zones("area", "Study area of a quadtree.", metavar="S,W,N,E", reads="box"),
)
ZONES_FROM = zones(
    "zones_from",
    "Use the zones of this earlier release, or series: its folder. What is not safe in them is withheld.",
    metavar="DIR",
    reads="path",
)
K = privacy("k", "Smallest support of a released flow.", metavar="K", kind="number", default=10)
UNIT = privacy(
    "unit",
    "What k counts: trips, travellers or population, or several separated by commas.",
    unset="travellers where there is an id, else trips",
    metavar="UNIT",
)
K_POPULATION = privacy(
    "k_population",
    "Smallest population of a released flow: a number, or auto for k times the mean weight. "
    "Without --unit it is asked for beside k.",
    metavar="K",
)
SUPPRESS = privacy(
    "suppress",
    "Share of the volume that may be withheld, such as 0.1 or 10%.",
    metavar="SHARE",
    kind="number",
    reads="share",
    default=0.1,
)
PUBLISH = privacy(
    "publish",
    "Numbers of a flow: rounded (trips exact, travellers in steps of k), both (exact), trips or travellers.",
    metavar="NUMBERS",
    default="rounded",
    values=("rounded", "both", "trips", "travellers"),
)
ROUND = privacy(
    "round",
    "Publish trips as multiples of this number, which divides k; their sums stay as close as they can.",
    metavar="BASE",
    kind="whole number",
    least=2,
)
TABLES = (
    switch(
        "with_margins",
        "Publish totals too: of every origin, of every destination, and of all, safe beside the flows.",
    ),
    privacy(
        "with_levels",
        "Publish the same trips at these levels too, such as 8,6: H3 resolutions, depths of a quadtree.",
        metavar="N,N",
        kind="text",
        reads="whole numbers",
    ),
)
DIVERSITY = (
    privacy(
        "l",
        "Every released zone covers at least this many tiles that occur.",
        metavar="L",
        kind="whole number",
    ),
    privacy(
        "l_places",
        "The same for places (--origin-place, --destination-place).",
        metavar="L",
        kind="whole number",
    ),
    privacy(
        "t",
        "An origin's destinations differ from everybody's by at most this share.",
        metavar="T",
        kind="number",
    ),
)
PARTS = (
    privacy(
        "dominance",
        "Largest share of a released flow's trips or population that one traveller may have, such as 0.5.",
        metavar="SHARE",
        kind="number",
        reads="share",
    ),
    privacy(
        "p_percent",
        "Nobody in a released flow can tell another one's part of it to within this many percent.",
        metavar="P",
        kind="number",
    ),
)
HIDING = (
    switch(
        "hide_choices",
        "Draw every flow's own threshold, from k to twice k, by a secret: coarse flows then tell nothing.",
    ),
    privacy(
        "hide_up_to",
        "Draw thresholds up to this many times k.",
        metavar="TIMES",
        kind="whole number",
        default=2,
        least=2,
    ),
    privacy(
        "secret",
        "File with the secret to draw thresholds and to round by, of 16 characters or more.",
        unset="drawn anew, and kept in private/run.json",
        metavar="FILE",
        reads="path",
    ),
)
SEGMENTS = (
    Option(
        name="segment",
        help="One release per segment: sex, or age:10 for bins of numbers (repeatable).",
        metavar="COLUMN",
        kind="texts",
        group="segments",
    ),
    switch(
        "segment_joint",
        "Instead one release, in which every segment of every released flow is safe.",
        "segments",
    ),
    switch(
        "segment_where_safe",
        "With --segment-joint: zones for everybody; a flow tells the segments that are safe in it.",
        "segments",
    ),
    Option(
        name="draws",
        help="Samples of equal size drawn from each segment, to tell size from other causes.",
        metavar="N",
        kind="whole number",
        default=3,
        least=0,
        group="segments",
    ),
)
SERIES = (
    Option(
        name="periods",
        help="What a period is: month, week or day of the trips' start.",
        unset="every input is one",
        metavar="PART",
        values=("month", "week", "day"),
        group="run",
    ),
    Option(
        name="pilot",
        help="Plan the zones on this period alone, such as 2024-05.",
        unset="all periods at once",
        metavar="PERIOD",
        group="run",
    ),
    switch(
        "cumulative",
        "Publish the sums from the first period until each, too: of published numbers alone.",
        "run",
    ),
)
AUDITED = (
    privacy("k", "The k that was ordered, if it should be at least this.", metavar="K", kind="number"),
    privacy("m", "How many known items k was ordered for, if not all.", metavar="M", kind="whole number"),
    privacy("l", "The l that was ordered, on tiles.", metavar="L", kind="whole number"),
    privacy("l_places", "The l that was ordered, on places.", metavar="L", kind="whole number"),
    privacy("t", "The t that was ordered.", metavar="T", kind="number"),
    *(replace(one, help=f"Ordered: {one.help[0].lower()}{one.help[1:]}") for one in PARTS),
)
COMPARED_ZONES = replace(
    ZONES_FROM, help="The release or series that zones were taken from, to be compared with.", group="run"
)
VOLUME = Option(
    name="volume",
    help="What is measured: trips or population.",
    unset="what was protected",
    metavar="VOLUME",
    group="run",
)


LEDGER = (
    KEPT_IN,
    Option(
        name="ledger_mode",
        help="With --ledger, where a release would add facts: coarsen, withhold alone, or round its numbers.",
        metavar="MODE",
        default="coarsen",
        values=("coarsen", "withhold", "round"),
        group="run",
    ),
    NEEDS_APPROVALS,
)
