"""Skills of other MCP servers: list them, verify them, and copy a skill on request.

Copies are stored by `prowess.catalog.sources.mirror`; only this package contacts servers. Needs the package `mcp`.
"""
