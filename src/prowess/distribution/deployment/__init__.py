"""Signed releases of an organisation: published once, fetched and verified by every host."""
