"""Criteria: when is a group of flows, or a whole release, safe."""

from tripcloak.criteria.allof import AllOf
from tripcloak.criteria.averagepeople import AveragePeople
from tripcloak.criteria.kanonymity import Criterion, KAnonymity
from tripcloak.criteria.kmanonymity import KMAnonymity
from tripcloak.criteria.ldiversity import LDiversity
from tripcloak.criteria.privacy import DifferentialPrivacy
from tripcloak.criteria.segments import EverySegment, Part
from tripcloak.criteria.tcloseness import OriginDistances, TCloseness, origin_distances

__all__ = [
    "AllOf",
    "AveragePeople",
    "Criterion",
    "DifferentialPrivacy",
    "EverySegment",
    "KAnonymity",
    "KMAnonymity",
    "LDiversity",
    "OriginDistances",
    "Part",
    "TCloseness",
    "origin_distances",
]
