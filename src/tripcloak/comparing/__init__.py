"""Comparing: all methods side by side on one input, and which one to use."""
