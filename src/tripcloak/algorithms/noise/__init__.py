"""Differentially private methods: noisy numbers that hide whether any one person was there."""

from tripcloak.algorithms.noise.inftda import InfTDA
from tripcloak.algorithms.noise.laplace import Laplace
from tripcloak.algorithms.noise.noisy import Noisy

__all__ = ["InfTDA", "Laplace", "Noisy"]
