"""What a gradient costs, beside the same gradient written by hand: run ``python benchmarks/run.py``."""
