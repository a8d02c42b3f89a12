"""Approvals of skills: which skills need one, the statements of people, and whether they are enough."""
