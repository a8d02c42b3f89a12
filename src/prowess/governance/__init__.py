"""Governance: decisions of people about skills, written where the policy of their layer is.

Values and matching are in `prowess.policy`, so that every session decides by them. This package writes them, and
records its own acts in the audit log.
"""
