"""k-merge: any number of trajectories into one generalised trajectory, at the least cost there is."""
