"""Events of a session: their values, and their delivery to streams, callbacks, stores and observers."""
