"""The whole road of trajectories: read, anonymise, audit, write; and what is asked of releases later."""
