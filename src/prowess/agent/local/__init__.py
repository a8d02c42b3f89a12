"""An offline model: very small, weak, and limited in its actions. Needs the optional extra `local`.

Words that the task shares with skills or tools select a few possible actions, and the language model picks one of them
(`engine`). Skills and tools that share no word with the task are never offered.
"""

from __future__ import annotations

from prowess.agent.local.engine import Engine, Reply
from prowess.agent.local.model import WEAKNESS, LocalModel

__all__ = ["WEAKNESS", "Engine", "LocalModel", "Reply"]
