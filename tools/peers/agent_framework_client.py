"""Microsoft Agent Framework's skills source reads our server; it knows `skill://index.json` alone."""

from __future__ import annotations

import asyncio
import sys
import warnings
from pathlib import Path
from typing import Any, cast

warnings.simplefilter("ignore")  # its skills are marked experimental

from agent_framework import MCPSkillsSource  # noqa: E402 -- the filter comes first
from mcp.client.client import Client  # noqa: E402 -- as above
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402 -- as above

PROWESS, ROOT = sys.argv[1:3]
FOLDERS = sorted(path.parent for path in Path(ROOT).glob("*/SKILL.md"))


async def main() -> None:
    """Discover, read each document and each supporting file."""
    parameters = StdioServerParameters(command=PROWESS, args=["serve", "--root", ROOT, "--workspace", ROOT])
    async with Client(stdio_client(parameters)) as client:
        skills = {
            skill.frontmatter.name: skill for skill in await MCPSkillsSource(client).get_skills(cast("Any", None))
        }
        assert sorted(skills) == [folder.name for folder in FOLDERS], sorted(skills)
        read = 0
        for folder in FOLDERS:
            skill = skills[folder.name]
            assert await skill.get_content() == (folder / "SKILL.md").read_bytes().decode()
            for path in folder.rglob("*"):
                if path.is_file():
                    resource = await skill.get_resource(str(path.relative_to(folder)))
                    assert resource is not None, path
                    content = await resource.read()
                    assert content in {path.read_bytes(), path.read_bytes().decode("utf-8", "replace")}, path
                    read += 1
            assert await skill.get_resource("references/none.md") is None
            assert await skill.get_resource("../other/SKILL.md") is None
        print(f"   skill://index.json and resources/read over stdio: {len(skills)} skills, {read} files, as on disk")


asyncio.run(main())
