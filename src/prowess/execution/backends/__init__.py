"""Sandbox implementations, one module each, with the interface of `prowess.execution.sandbox`."""
