"""The manifest beside SKILL.md (`skill.manifest.yaml`): its types, its reader, tool bindings."""
