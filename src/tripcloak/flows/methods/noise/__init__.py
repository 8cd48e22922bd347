"""Differentially private methods: noisy numbers that hide whether any one person was there."""

from tripcloak.flows.methods.noise.inftda import InfTDA
from tripcloak.flows.methods.noise.laplace import Laplace
from tripcloak.flows.methods.noise.noisy import NoisyMethod
from tripcloak.flows.methods.noise.noisycut import NoisyCut

__all__ = ["InfTDA", "Laplace", "NoisyCut", "NoisyMethod"]
