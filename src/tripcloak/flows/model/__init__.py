"""The OD matrix: coded flows with trips, travellers and population."""

from tripcloak.flows.model.flows import (
    NOBODY,
    Flows,
    FlowsKept,
    Numbering,
    Represented,
    Travellers,
    WeightsSeen,
    WeightsTold,
    flows_from_trips,
    gather_flows,
    kept_flows,
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
from tripcloak.flows.model.parting import (
    Elsewhere,
    EndsElsewhere,
    FlowParts,
    FlowsInBlocks,
    PeopleElsewhere,
    WorkersElsewhere,
)
from tripcloak.flows.model.records import KeyedRecords

__all__ = [
    "NOBODY",
    "Elsewhere",
    "EndsElsewhere",
    "FlowParts",
    "Flows",
    "FlowsInBlocks",
    "FlowsKept",
    "Groups",
    "KeyedRecords",
    "Numbering",
    "ODMatrix",
    "PeopleElsewhere",
    "PlaceCounts",
    "Represented",
    "Runs",
    "SegmentPart",
    "Slot",
    "Travellers",
    "TripEndSource",
    "TripEnds",
    "WeightsSeen",
    "WeightsTold",
    "WorkersElsewhere",
    "by_slot",
    "count_places",
    "flows_from_trips",
    "gather_flows",
    "group_flows",
    "kept_flows",
    "represented_by",
]
