"""Conformance suites, one module for each protocol."""
