"""The methods by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tripcloak.ground.errors import InputError
from tripcloak.ground.registry import Registry
from tripcloak.ground.spelling import spelt

if TYPE_CHECKING:
    from tripcloak.flows.methods.method import FlowMethod

METHODS: Registry[FlowMethod] = Registry(
    "tripcloak.flows.methods",
    {
        "twincut": "twincut:TwinCut",
        "nestedcut": "productcut:NestedCut",
        "productcut": "productcut:ProductCut",
        "atg-dual": "atg:ATGDual",
        "atg-soft": "atg:ATGSoft",
        "quadtree-knapsack": "knapsack:QuadtreeKnapsack",
        "odkanon": "odkanon:ODkAnon",
        "oigh": "oigh:OIGH",
        "km-apriori": "km_apriori:KMApriori",
        "mondrian": "mondrian:Mondrian",
        "glove": "glove:Glove",
        "glove-sk": "glove:GloveSk",
        "suppression": "suppression:Suppression",
        "laplace": "noise.laplace:Laplace",
        "inftda": "noise.inftda:InfTDA",
        "noisycut": "noise.noisycut:NoisyCut",
    },
)
"""Every method by its name, with its file and its class; a new one is one line more."""


KEEPING = "fixed-zones"
"""The method that takes its zones from an earlier release; without one there is nothing to choose it for."""


def method_released_as(name: str) -> type[FlowMethod]:
    """Return the method of which a manifest names this, or raise a KeyError.

    >>> method_released_as("fixed-zones").__name__
    'FixedZones'
    """
    if name == KEEPING:
        from tripcloak.flows.methods.fixed_zones import FixedZones

        return FixedZones
    return METHODS[name]


def find_method(name: str) -> type[FlowMethod]:
    """Return the method of this name.

    >>> find_method("odkanon").__name__
    'ODkAnon'
    >>> find_method("magic")
    Traceback (most recent call last):
    tripcloak.InputError: there is no method 'magic'; there are: twincut, ...
    """
    if name == KEEPING:
        raise InputError(
            f"{KEEPING} takes the zones of an earlier release; name that ({spelt('zones_from', 'DIR')})"
        )
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; there are: {', '.join(METHODS)}")
    return METHODS[name]
