"""The OD matrix: coded flows with trips, travellers and population."""

from tripcloak.flows.model.flows import (
    NOBODY,
    Flows,
    Numbering,
    Represented,
    Travellers,
    WeightsSeen,
    flows_from_trips,
    represented_by,
)
from tripcloak.flows.model.groups import Groups, Runs, SegmentPart, group_flows
from tripcloak.flows.model.matrix import (
    ODMatrix,
    PlaceCounts,
    Slot,
    TripEnds,
    TripEndSource,
    by_slot,
    count_places,
)
from tripcloak.flows.model.records import KeyedRecords

__all__ = [
    "NOBODY",
    "Flows",
    "Groups",
    "KeyedRecords",
    "Numbering",
    "ODMatrix",
    "PlaceCounts",
    "Represented",
    "Runs",
    "SegmentPart",
    "Slot",
    "Travellers",
    "TripEndSource",
    "TripEnds",
    "WeightsSeen",
    "by_slot",
    "count_places",
    "flows_from_trips",
    "group_flows",
    "represented_by",
]
