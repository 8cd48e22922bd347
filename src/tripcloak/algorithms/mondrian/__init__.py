"""Mondrian: boxes of flows, halved at medians for as long as both halves are safe."""

from tripcloak.algorithms.mondrian.mondrian import Mondrian

__all__ = ["Mondrian"]
