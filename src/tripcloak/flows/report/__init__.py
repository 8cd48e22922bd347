"""What travels with a release of flows for people to look at: its map and its README."""
