"""Other agents: the directories in which they look for skills, and what they find there."""
