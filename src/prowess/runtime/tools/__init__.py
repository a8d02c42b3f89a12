"""Tools for skills: the four of runtime protocol 002 and `skills.list`. One module each, with its schemas."""
