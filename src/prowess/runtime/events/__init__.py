"""Events of a session: event types, and their delivery to streams, callbacks, stores and observers."""
