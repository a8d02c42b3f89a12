"""A model that needs no network: very small, weak, and bounded in all it does. It is the extra `local`.

Words of the task point to a few things that could be done (`options`), the language model picks one of them
(`engine`), and the loop goes on. What no word points to is never done.
"""

from __future__ import annotations

from prowess.agent.local.engine import Engine, Reply
from prowess.agent.local.model import WEAKNESS, LocalModel

__all__ = ["WEAKNESS", "Engine", "LocalModel", "Reply"]
