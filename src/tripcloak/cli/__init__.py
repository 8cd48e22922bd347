"""The command line: parses, calls, prints; no logic."""

from tripcloak.cli.run import main

__all__ = ["main"]
