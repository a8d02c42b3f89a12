"""Locks of other tools: their formats and their hashes. Pure: bytes in, entries out."""
