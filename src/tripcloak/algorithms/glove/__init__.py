"""Glove: flows merged as boxes, by its own greedy rule or by scikit-learn's clustering."""

from tripcloak.algorithms.glove.glove import Glove
from tripcloak.algorithms.glove.glove_sk import GloveSk

__all__ = ["Glove", "GloveSk"]
