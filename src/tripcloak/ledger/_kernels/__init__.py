"""Compiled loops of the ledger; each has a plain twin in tests/oracles/differencing.py."""
