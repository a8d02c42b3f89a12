"""Campaigns of evals with a model: units, workspaces, running, comparison, files of an iteration."""
