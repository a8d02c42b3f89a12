"""Packages: finds, fetches, resolves, installs, publishes and deploys skills."""
