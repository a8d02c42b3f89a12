"""The manifest beside SKILL.md (skill.json or skill.yaml): its types, its reader, tool bindings."""
