"""Improves the description of a skill: revised by what fails in training, chosen by validation."""
