"""Where packages have skills, and how much of them is read."""

from __future__ import annotations

GROUP = "agent_skills"  # of entry points
PYTHON_PLACES = (".agents/skills", "skills")  # in an import package
NODE_PLACES = (".agents/skills", "skills", "dist/skills")  # in a node package
MAX_RECORD_BYTES = 16 * 1024 * 1024  # of one RECORD; the largest of 600 real ones has 2 MB
