"""Who counts, and where what is counted waits: arrays in memory, or parts on disk."""
