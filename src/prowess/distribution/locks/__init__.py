"""Locks on disk: merging and mending them with git, and locks of other tools."""
