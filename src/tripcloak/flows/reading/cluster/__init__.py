"""Reading on a cluster: rows are cleaned where they are read, dealt out by pair, and counted there."""
