"""Targets: the directories in which other agents read installed skills."""
