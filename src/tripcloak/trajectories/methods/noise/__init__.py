"""Differentially private methods on trajectories: made-up ones, drawn from noisy numbers."""
