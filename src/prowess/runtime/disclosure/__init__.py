"""Every text that a model sees of a session, in each exposure, and what it costs."""
