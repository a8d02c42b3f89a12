"""Skills of other MCP servers: list them, verify them, and copy a skill on request.

Copies are stored by `prowess.catalog.sources.mirror`. No other package of Prowess contacts MCP servers. This package
needs the package `mcp`.
"""
