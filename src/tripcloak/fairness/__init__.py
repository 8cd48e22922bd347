"""Fairness and exposure: what safety costs whom, and who is left exposed."""
