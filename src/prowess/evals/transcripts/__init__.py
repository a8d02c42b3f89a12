"""Transcripts of agent hosts, read into one frozen shape."""
