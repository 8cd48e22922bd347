"""The methods by name."""

from __future__ import annotations

from tripcloak.algorithms.atg import ATGDual, ATGSoft
from tripcloak.algorithms.base import Algorithm
from tripcloak.algorithms.glove import Glove, GloveSk
from tripcloak.algorithms.km_apriori import KMApriori
from tripcloak.algorithms.knapsack import QuadtreeKnapsack
from tripcloak.algorithms.mondrian import Mondrian
from tripcloak.algorithms.noise import InfTDA, Laplace
from tripcloak.algorithms.odkanon import ODkAnon
from tripcloak.algorithms.oigh import OIGH
from tripcloak.algorithms.productcut import NestedCut, ProductCut
from tripcloak.algorithms.suppression import Suppression
from tripcloak.algorithms.twincut import TwinCut
from tripcloak.errors import InputError

_ALL: tuple[type[Algorithm], ...] = (
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

METHODS: dict[str, type[Algorithm]] = {method.name: method for method in _ALL}


def method(name: str) -> type[Algorithm]:
    """Return the method of this name.

    >>> method("odkanon").__name__
    'ODkAnon'
    >>> method("magic")
    Traceback (most recent call last):
    tripcloak.errors.InputError: there is no method 'magic'; there are: twincut, ...
    """
    try:
        return METHODS[name]
    except KeyError:
        raise InputError(f"there is no method {name!r}; there are: {', '.join(METHODS)}") from None
