"""Facts that a rule can match: the skill with its capabilities and publisher, and the requester."""
