"""FastMCP's client reads our server: by the Skills extension over stdio and HTTP, and by the older forms."""

from __future__ import annotations

import asyncio
import sys
import warnings
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.skills import SkillsClientExtension
from fastmcp.utilities import skills as older

PROWESS, ROOT = sys.argv[1:3]
FOLDERS = sorted(path.parent for path in Path(ROOT).glob("*/SKILL.md"))


async def read_all(client: Client, how: str) -> None:
    """Compare what the client reads with what lies on the disk."""
    listed = {skill.frontmatter.name: skill for skill in await client.list_skills()}
    assert sorted(listed) == [folder.name for folder in FOLDERS], sorted(listed)
    files = 0
    for folder in FOLDERS:
        skill = await client.read_skill(listed[folder.name].uri)  # verifies digests, sizes and front matter
        found = {path: bytes(data) for path, data in skill.files.items()}
        on_disk = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        assert found == on_disk, folder
        files += len(found)
    print(f"   skills/list and resources/read over {how}: {len(listed)} skills, {files} files, bytes as on disk")


async def read_older(client: Client) -> None:
    """Use the forms of FastMCP before the extension."""
    warnings.simplefilter("ignore")
    listed = {skill.name: skill for skill in await older.list_skills(client)}
    assert sorted(listed) == [folder.name for folder in FOLDERS]
    for folder in FOLDERS:
        manifest = await older.get_skill_manifest(client, folder.name)
        on_disk = {(str(path.relative_to(folder)), path.stat().st_size) for path in folder.rglob("*") if path.is_file()}
        assert {(file.path, file.size) for file in manifest.files} == on_disk
    print(f"   _manifest: {len(listed)} skills, files and sizes as on disk")


async def main() -> None:
    """Read over each transport."""
    extensions = [SkillsClientExtension()]
    serve = ["serve", "--root", ROOT, "--workspace", ROOT]
    async with Client(StdioTransport(PROWESS, serve), extensions=extensions) as client:
        await read_all(client, "stdio")
        await read_older(client)
        tools = {tool.name for tool in await client.list_tools()}
        assert "skills_load" in tools
        prompts = {prompt.name for prompt in await client.list_prompts()}
        assert prompts == {folder.name for folder in FOLDERS}
        print(f"   {len(tools)} tools, {len(prompts)} prompts")
    server = await asyncio.create_subprocess_exec(
        PROWESS, *serve, "--http", "127.0.0.1:0", stderr=asyncio.subprocess.PIPE
    )
    try:
        assert server.stderr is not None
        while "Serving MCP at" not in (line := (await server.stderr.readline()).decode()):
            assert line, "the server ended"
        async with Client(line.split()[3].rstrip(";"), extensions=extensions) as client:
            await read_all(client, "HTTP")
    finally:
        server.terminate()
        await server.wait()


asyncio.run(main())
