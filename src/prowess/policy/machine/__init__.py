"""Settings about machines in policy files, and the age of the bundle of an enrolled machine."""
