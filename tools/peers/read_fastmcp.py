"""Our client reads FastMCP's skills server and copies every skill; the copies are compared with the disk."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from prowess import Catalog
from prowess.catalog.sources.mirror import mirrored
from prowess.catalog.trust import TrustStore
from prowess.mcp_client.remote_skills import RemoteSkills

PYTHON, ROOT = sys.argv[1:3]


async def main() -> None:
    """List, fetch, trust, and open as a catalog."""
    server = str(Path(__file__).with_name("fastmcp_server.py"))
    parameters = StdioServerParameters(command=PYTHON, args=[server, ROOT])
    async with Client(stdio_client(parameters)) as client:
        remote = RemoteSkills("fastmcp", client)
        skills = await remote.list()
        for refused in remote.refused:
            print(f"   refused: {refused}")
        for skill in skills:
            source = await remote.fetch(skill)
            TrustStore().trust(source.project or "")
    ours = {entry.name: entry for entry in Catalog(ROOT).entries()}
    theirs = Catalog(*mirrored("fastmcp"))
    assert sorted(ours) == [entry.name for entry in theirs.entries()], [entry.name for entry in theirs.entries()]
    files = 0
    for name in ours:
        expected = {(file.path, file.sha256) for file in Catalog(ROOT).skill(name).manifest.files}
        assert {(file.path, file.sha256) for file in theirs.skill(name).manifest.files} == expected
        files += len(expected)
    print(f"   skills/list and resources/read over stdio: {len(ours)} skills, {files} files, bytes as on disk")


with tempfile.TemporaryDirectory() as home:
    os.environ["PROWESS_HOME"] = home
    asyncio.run(main())
