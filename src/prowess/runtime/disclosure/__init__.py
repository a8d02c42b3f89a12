"""The texts that a model sees of a session, in each exposure, and their cost in tokens."""
