"""Hooks of skills: run in the sandbox, in the order written, with the contract of Claude Code's hooks."""
