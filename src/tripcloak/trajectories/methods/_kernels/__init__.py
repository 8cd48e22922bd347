"""Compiled loops of the methods on trajectories; each has a plain twin in tests/oracles/trajectories."""
