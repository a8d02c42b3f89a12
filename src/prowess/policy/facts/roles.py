"""The roles of an organisation, from the least rights to the most.

Source: platform requirements 003, integration with existing architecture.
"""

from __future__ import annotations

ROLES = ("viewer", "user", "author", "approver", "administrator")
