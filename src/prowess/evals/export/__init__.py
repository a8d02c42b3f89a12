"""Evals and results for other tools: promptfoo, Inspect; and recorded runs as cases."""
