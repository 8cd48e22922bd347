"""Algorithms: one file per published method, all under one contract."""

from tripcloak.algorithms.atg import ATGDual, ATGSoft
from tripcloak.algorithms.base import Algorithm, Progress
from tripcloak.algorithms.knapsack import QuadtreeKnapsack
from tripcloak.algorithms.odkanon import ODkAnon
from tripcloak.algorithms.productcut import NestedCut, ProductCut
from tripcloak.algorithms.registry import METHODS, method
from tripcloak.algorithms.slots import SlotBySlot
from tripcloak.algorithms.twincut import TwinCut

__all__ = [
    "METHODS",
    "ATGDual",
    "ATGSoft",
    "Algorithm",
    "NestedCut",
    "ODkAnon",
    "ProductCut",
    "Progress",
    "QuadtreeKnapsack",
    "SlotBySlot",
    "TwinCut",
    "method",
]
