"""Indexes of skills on web sites: `.well-known/agent-skills/index.json`."""
