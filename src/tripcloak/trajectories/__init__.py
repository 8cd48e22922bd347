"""The wing of trajectories: from fixes to released boxes in space and time."""
