"""Decides recorded calls again by another policy."""
