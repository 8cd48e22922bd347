"""Methods that anonymise trajectories."""
