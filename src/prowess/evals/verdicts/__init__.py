"""Verdicts on one skill in one run, from its transcript."""
