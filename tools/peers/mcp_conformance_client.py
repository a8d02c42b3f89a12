"""Our client of the Skills extension as the official suite runs it: the URL of its server is the last argument."""

from __future__ import annotations

import os
import sys

import anyio
from mcp.client.client import Client

from prowess.errors import RemoteSkillError
from prowess.mcp_client.remote_skills import RemoteSkills


async def main() -> None:
    """List, and fetch every skill except if the scenario is that nothing is read before it is loaded."""
    handshake = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "") < "2026"
    async with Client(sys.argv[-1], mode="legacy" if handshake else "auto") as client:
        remote = RemoteSkills("conformance", client)
        skills = await remote.list()
        assert skills, remote.refused
        if os.environ["MCP_CONFORMANCE_SCENARIO"].endswith("no-prefetch"):
            return
        for skill in skills:
            try:
                await remote.fetch(skill)
            except RemoteSkillError as error:
                print(f"refused: {error}")
            else:
                sys.exit(f"{skill.uri} was kept although it is not what its entry tells")


anyio.run(main)
