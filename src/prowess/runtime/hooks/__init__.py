"""Hooks of skills, run in the sandbox in the written order, with the interface of Claude Code's hooks."""
