"""A workspace with its tools behind a door, as a model meets them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.tools import ToolCall, ToolExecutor
from prowess.tools.builtin import BUILTIN_NAMES, builtin_tools

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from prowess.execution import Sandbox
    from prowess.tools import ToolResult


class Desk:
    def __init__(
        self,
        root: Path,
        *,
        write: bool = True,
        sandbox: Sandbox | None = None,
        readable: tuple[str, ...] = (),
        show_scripts: bool = False,
    ) -> None:
        self.root = root
        self.executor = ToolExecutor(
            builtin_tools(
                BUILTIN_NAMES,
                workspace=root,
                write=write,
                sandbox=sandbox,
                readable=lambda: readable,
                show_scripts=show_scripts,
            )
        )

    def put(self, path: str, content: str | bytes = "", *, age: int = 0) -> Path:
        """Write a file, changed `age` seconds before a fixed moment."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        moment = 1_700_000_000 - age
        os.utime(file, (moment, moment))
        return file

    async def call(self, name: str, /, **arguments: object) -> ToolResult:
        return await self.executor.call(ToolCall(id="1", name=name, arguments=arguments))

    async def good(self, name: str, /, **arguments: object) -> Mapping[str, object]:
        result = await self.call(name, **arguments)
        assert result.error is None
        return result.unwrap()

    async def bad(self, name: str, /, **arguments: object) -> tuple[str, str]:
        """Return (code, sentence) of a failure."""
        result = await self.call(name, **arguments)
        assert result.error is not None
        assert result.error_detail is not None
        return str(result.error_detail["code"]), result.error
