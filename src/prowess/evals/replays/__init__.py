"""Recorded iterations of evals: finding them beside skills, and replaying their units one at a time."""
