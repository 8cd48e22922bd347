"""Criteria: when is a group of flows, or a whole release, safe."""

from tripcloak.promises.allof import AllOf
from tripcloak.promises.differential_privacy import DifferentialPrivacy
from tripcloak.promises.kanonymity import AveragePeople, KAnonymity, Promise
from tripcloak.promises.kmanonymity import KMAnonymity
from tripcloak.promises.ldiversity import LDiversity
from tripcloak.promises.segments import EverySegment, SegmentPart
from tripcloak.promises.tcloseness import OriginDistances, TCloseness, origin_distances

__all__ = [
    "AllOf",
    "AveragePeople",
    "DifferentialPrivacy",
    "EverySegment",
    "KAnonymity",
    "KMAnonymity",
    "LDiversity",
    "OriginDistances",
    "Promise",
    "SegmentPart",
    "TCloseness",
    "origin_distances",
]
