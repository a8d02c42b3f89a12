"""The text of a SKILL.md before its meaning: encoding, YAML scalars, repair, the fast reader of plain front matter."""
