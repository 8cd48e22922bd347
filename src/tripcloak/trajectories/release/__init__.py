"""Releases of trajectories: built, written as files, and read back."""
