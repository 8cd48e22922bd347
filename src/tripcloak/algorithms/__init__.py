"""Algorithms: one file per published method, all under one contract."""

from tripcloak.algorithms.atg import ATGDual, ATGSoft
from tripcloak.algorithms.base import Algorithm, Progress
from tripcloak.algorithms.glove import Glove, GloveSk
from tripcloak.algorithms.km_apriori import KMApriori
from tripcloak.algorithms.knapsack import QuadtreeKnapsack
from tripcloak.algorithms.mondrian import Mondrian
from tripcloak.algorithms.noise import InfTDA, Laplace
from tripcloak.algorithms.odkanon import ODkAnon
from tripcloak.algorithms.oigh import OIGH
from tripcloak.algorithms.productcut import NestedCut, ProductCut
from tripcloak.algorithms.registry import METHODS, method
from tripcloak.algorithms.slots import SlotBySlot
from tripcloak.algorithms.suppression import Suppression
from tripcloak.algorithms.twincut import TwinCut

__all__ = [
    "METHODS",
    "OIGH",
    "ATGDual",
    "ATGSoft",
    "Algorithm",
    "Glove",
    "GloveSk",
    "InfTDA",
    "KMApriori",
    "Laplace",
    "Mondrian",
    "NestedCut",
    "ODkAnon",
    "ProductCut",
    "Progress",
    "QuadtreeKnapsack",
    "SlotBySlot",
    "Suppression",
    "TwinCut",
    "method",
]
