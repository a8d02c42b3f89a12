"""FastMCP's skills server over standard input and output, for our client to read."""

from __future__ import annotations

import sys

from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider

FastMCP("skills", providers=[SkillsDirectoryProvider(sys.argv[1])]).run(transport="stdio", show_banner=False)
