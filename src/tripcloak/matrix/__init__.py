"""The OD matrix: coded flows with trips, travellers and population."""

from tripcloak.matrix.flows import NOBODY, Flows, Travellers, flows_from_trips
from tripcloak.matrix.groups import Groups, Runs, group_flows
from tripcloak.matrix.numbering import Numbering
from tripcloak.matrix.od import UNITS, Covered, ODMatrix, Points, PointSource, Unit, Volume
from tripcloak.matrix.people import Represented, WeightsSeen, represented_by
from tripcloak.matrix.places import Places, count_places
from tripcloak.matrix.slots import Slot, by_slot

__all__ = [
    "NOBODY",
    "UNITS",
    "Covered",
    "Flows",
    "Groups",
    "Numbering",
    "ODMatrix",
    "Places",
    "PointSource",
    "Points",
    "Represented",
    "Runs",
    "Slot",
    "Travellers",
    "Unit",
    "Volume",
    "WeightsSeen",
    "by_slot",
    "count_places",
    "flows_from_trips",
    "group_flows",
    "represented_by",
]
