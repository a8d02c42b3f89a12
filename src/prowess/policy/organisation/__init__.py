"""Decisions of an organisation, for sessions whose store it shares."""
