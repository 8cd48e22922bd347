"""What travels with a release of trajectories for people to look at: map, figures and README."""
