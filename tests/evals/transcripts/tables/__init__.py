"""Transcripts written by hand, with their verdicts, one module for each host."""
