"""Compiled loops of the attacks; held to plain definitions in tests/oracles/trajectories."""
