"""Scripts of a skill: which may run, the process beside the skill, the artifacts they leave."""
