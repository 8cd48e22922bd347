"""The published comparisons again, in the same form: their figures, ours beside them, and why they differ.

python -m benchmarks.papers --out out/papers            # everything, on generated data
python -m benchmarks.papers --quick --out out/papers    # one small matrix of every kind, about a minute
"""
