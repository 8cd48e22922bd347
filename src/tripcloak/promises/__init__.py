"""Promises: when is a group of flows, or a whole release, safe."""

from tripcloak.promises.allof import AllOf
from tripcloak.promises.differential_privacy import DifferentialPrivacy
from tripcloak.promises.kanonymity import AveragePeople, KAnonymity
from tripcloak.promises.kmanonymity import KMAnonymity
from tripcloak.promises.ldiversity import LDiversity
from tripcloak.promises.promise import UNITS, Covered, FlowGroups, Input, Promise, Unit, Volume
from tripcloak.promises.segments import EverySegment
from tripcloak.promises.tcloseness import OriginDistances, TCloseness, origin_distances

__all__ = [
    "UNITS",
    "AllOf",
    "AveragePeople",
    "Covered",
    "DifferentialPrivacy",
    "EverySegment",
    "FlowGroups",
    "Input",
    "KAnonymity",
    "KMAnonymity",
    "LDiversity",
    "OriginDistances",
    "Promise",
    "TCloseness",
    "Unit",
    "Volume",
    "origin_distances",
]
