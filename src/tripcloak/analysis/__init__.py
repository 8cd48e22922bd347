"""Analysis: what people do with a release: flows between zones, profiles, land use, topics, scores."""

from tripcloak.analysis.agreement import (
    AgreementSpread,
    adjusted_rand,
    best_match,
    contingency,
    correlations,
    cosines,
)
from tripcloak.analysis.answers import Answers, Questions, Scores, aligned, ask, ask_again, compare_answers
from tripcloak.analysis.landuse import LandUse, land_use, telling
from tripcloak.analysis.overlap import Overlap, area_overlap, equal_area, point_overlap, spread_over
from tripcloak.analysis.profiles import Profiles, counted_profile, released_profile, time_shares
from tripcloak.analysis.reconstruction import Reconstruction, Unseen, expected_flows, reconstruct
from tripcloak.analysis.topics import SlotFlows, Topics, busiest, typical_flows

__all__ = [
    "AgreementSpread",
    "Answers",
    "LandUse",
    "Overlap",
    "Profiles",
    "Questions",
    "Reconstruction",
    "Scores",
    "SlotFlows",
    "Topics",
    "Unseen",
    "adjusted_rand",
    "aligned",
    "area_overlap",
    "ask",
    "ask_again",
    "best_match",
    "busiest",
    "compare_answers",
    "contingency",
    "correlations",
    "cosines",
    "counted_profile",
    "equal_area",
    "expected_flows",
    "land_use",
    "point_overlap",
    "reconstruct",
    "released_profile",
    "spread_over",
    "telling",
    "time_shares",
    "typical_flows",
]
