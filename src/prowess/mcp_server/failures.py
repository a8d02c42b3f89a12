"""Errors of ours as errors of the protocol, for requests that are no tool calls.

What was asked for wrongly, or is not there, is `invalid params` (-32602), as the Skills extension and the revision
2026-07-28 demand; whatever else goes wrong is an internal error. `data` holds code, message and suggestions. Of a
resource that is not there it holds the URI and nothing else: by that clients tell absence from other faults.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from prowess.errors import SkillError
from prowess.tools import ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

_ASKED_WRONGLY = (ValueError, LookupError)


@contextmanager
def protocol_error(uri: str | None = None) -> Iterator[None]:
    """Turn a SkillError that is raised inside into the protocol's error; `uri` is the resource that was asked for.

    Raises:
        MCPError: instead.
    """
    try:
        yield
    except SkillError as error:
        failed = ToolResult.failed(error)  # for its texts: a model may be shown them
        if uri is not None and isinstance(error, LookupError):
            raise MCPError(INVALID_PARAMS, failed.error or "", {"uri": uri}) from error
        code = INVALID_PARAMS if isinstance(error, _ASKED_WRONGLY) else INTERNAL_ERROR
        raise MCPError(code, failed.error or "", dict(failed.error_detail or {})) from error
