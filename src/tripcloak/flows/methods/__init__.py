"""Algorithms: one file per published method, all under one contract."""

from tripcloak.flows.methods.atg import ATGDual, ATGSoft
from tripcloak.flows.methods.glove import Glove, GloveSk
from tripcloak.flows.methods.km_apriori import KMApriori
from tripcloak.flows.methods.knapsack import QuadtreeKnapsack
from tripcloak.flows.methods.method import FlowMethod
from tripcloak.flows.methods.mondrian import Mondrian
from tripcloak.flows.methods.noise import InfTDA, Laplace
from tripcloak.flows.methods.odkanon import ODkAnon
from tripcloak.flows.methods.oigh import OIGH
from tripcloak.flows.methods.productcut import NestedCut, ProductCut
from tripcloak.flows.methods.registry import METHODS, find_method
from tripcloak.flows.methods.slots import SlotBySlot
from tripcloak.flows.methods.suppression import Suppression
from tripcloak.flows.methods.twincut import TwinCut
from tripcloak.ground.progress import Progress

__all__ = [
    "METHODS",
    "OIGH",
    "ATGDual",
    "ATGSoft",
    "FlowMethod",
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
    "find_method",
]
