"""Hierarchies: trees of zones, and cuts through them."""

from tripcloak.hierarchy.tree import Cut, Geometry, Hierarchy, Zones

__all__ = ["Cut", "Geometry", "Hierarchy", "Zones"]
