"""Algorithms: one file per published method, all under one contract."""

from tripcloak.algorithms.base import Algorithm, Progress
from tripcloak.algorithms.odkanon import ODkAnon
from tripcloak.algorithms.registry import METHODS, method

__all__ = ["METHODS", "Algorithm", "ODkAnon", "Progress", "method"]
