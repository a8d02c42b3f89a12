"""Paid calls of a campaign: one journal, caps on cost, tokens and calls, and prices."""
