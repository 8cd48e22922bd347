"""The ground floor: what everything else stands on, and nothing that knows of flows or trajectories."""
