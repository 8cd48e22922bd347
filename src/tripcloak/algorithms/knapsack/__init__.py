"""The tree knapsack: the exact choice of destination maps within a limit."""

from tripcloak.algorithms.knapsack.quadtree import QuadtreeKnapsack

__all__ = ["QuadtreeKnapsack"]
