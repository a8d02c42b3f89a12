"""Conformance suites for what other authors can write for Prowess, such as sources."""
