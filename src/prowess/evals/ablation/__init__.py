"""Ablation: which passages of a skill matter to its tests and evals, and which could be removed unnoticed."""
