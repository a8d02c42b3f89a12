"""Policy of packages: sources, signatures, trusted publishers, and the age of a deployment."""
