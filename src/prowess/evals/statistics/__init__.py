"""Statistics of evals in plain Python: rates, paired comparisons, repeated attempts, and when to stop."""
