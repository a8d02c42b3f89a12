"""Tools around tools: each wrapper adds one thing and passes everything else on."""

from __future__ import annotations

from prowess.tools.wrappers.audited import Audited
from prowess.tools.wrappers.caching import Caching
from prowess.tools.wrappers.filtered import Filtered
from prowess.tools.wrappers.needs_approval import NeedsApproval
from prowess.tools.wrappers.renamed import Renamed, prefixed
from prowess.tools.wrappers.retrying import Retrying
from prowess.tools.wrappers.wrapper import ToolWrapper

__all__ = ["Audited", "Caching", "Filtered", "NeedsApproval", "Renamed", "Retrying", "ToolWrapper", "prefixed"]
