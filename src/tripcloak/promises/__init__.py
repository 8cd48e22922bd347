"""Promises: what a release is held to, one class each; whoever wants to know what was promised asks it."""

from tripcloak.promises.allof import AllOf, all_of
from tripcloak.promises.crowds import KMSamples, Presence
from tripcloak.promises.differential_privacy import DifferentialPrivacy
from tripcloak.promises.disclosure import Disclosure
from tripcloak.promises.dominance import Dominance, PPercent
from tripcloak.promises.hidden import HiddenChoices
from tripcloak.promises.kanonymity import AveragePeople, KAnonymity
from tripcloak.promises.kmanonymity import KMAnonymity
from tripcloak.promises.ldiversity import LDiversity
from tripcloak.promises.mixing import Mixing
from tripcloak.promises.promise import (
    UNITS,
    Covered,
    FlowGroups,
    Input,
    Largest,
    Passages,
    Promise,
    Unit,
    Volume,
)
from tripcloak.promises.rounding import Rounding
from tripcloak.promises.segments import EverySegment, SegmentsWhereSafe
from tripcloak.promises.tcloseness import OriginDistances, TCloseness, origin_distances
from tripcloak.promises.trajectories import AmongPromise, CoLocation, Containment, TrajectoryPromise
from tripcloak.promises.trajectory_privacy import (
    NoisePart,
    TrajectoryNoise,
    TrajectoryPrivacy,
    UnprovenNoise,
)

__all__ = [
    "UNITS",
    "AllOf",
    "AmongPromise",
    "AveragePeople",
    "CoLocation",
    "Containment",
    "Covered",
    "DifferentialPrivacy",
    "Disclosure",
    "Dominance",
    "EverySegment",
    "FlowGroups",
    "HiddenChoices",
    "Input",
    "KAnonymity",
    "KMAnonymity",
    "KMSamples",
    "LDiversity",
    "Largest",
    "Mixing",
    "NoisePart",
    "OriginDistances",
    "PPercent",
    "Passages",
    "Presence",
    "Promise",
    "Rounding",
    "SegmentsWhereSafe",
    "TCloseness",
    "TrajectoryNoise",
    "TrajectoryPrivacy",
    "TrajectoryPromise",
    "Unit",
    "UnprovenNoise",
    "Volume",
    "all_of",
    "origin_distances",
]
