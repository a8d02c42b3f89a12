"""Iterations of all commands: their folders, the settings that a resumed one must share, and snapshots of skills."""
