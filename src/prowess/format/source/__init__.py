"""The text of a SKILL.md before it has meaning: encoding, fences, quoting, repair, the plain reader."""
