"""Run a script of a skill: choose its interpreter, stage its bytes, start it in a sandbox, bring back what it left."""

from __future__ import annotations
