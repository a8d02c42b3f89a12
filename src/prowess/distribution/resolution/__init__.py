"""Chooses one version of each skill that fits all demands, or explains the conflict."""
