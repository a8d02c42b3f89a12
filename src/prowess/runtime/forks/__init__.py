"""Forks: a skill that runs in a sub-agent of its own."""
