"""Methods that anonymise trajectories, one file each."""
