"""A release in the formats of other tools: what it says, and nothing else."""
