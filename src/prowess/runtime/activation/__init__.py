"""Activation of skills: visibility, snapshots, hooks, commands, placeholders, and the result of a load."""
