"""The methods by name."""

from __future__ import annotations

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
from tripcloak.flows.methods.suppression import Suppression
from tripcloak.flows.methods.twincut import TwinCut
from tripcloak.ground.errors import InputError

_ALL: tuple[type[FlowMethod], ...] = (
    TwinCut,
    NestedCut,
    ProductCut,
    ATGDual,
    ATGSoft,
    QuadtreeKnapsack,
    ODkAnon,
    OIGH,
    KMApriori,
    Mondrian,
    Glove,
    GloveSk,
    Suppression,
    Laplace,
    InfTDA,
)

METHODS: dict[str, type[FlowMethod]] = {method.name: method for method in _ALL}


def find_method(name: str) -> type[FlowMethod]:
    """Return the method of this name.

    >>> find_method("odkanon").__name__
    'ODkAnon'
    >>> find_method("magic")
    Traceback (most recent call last):
    tripcloak.InputError: there is no method 'magic'; there are: twincut, ...
    """
    try:
        return METHODS[name]
    except KeyError:
        raise InputError(f"there is no method {name!r}; there are: {', '.join(METHODS)}") from None
