"""Compiled loops of the methods on flows; each has a plain twin in tests/oracles/flows."""
