"""Skills of other MCP servers: listed, checked, and copied when somebody asks for one.

What is copied lies in `prowess.catalog.sources.mirror`; only this room speaks to servers. It needs the `mcp` package.
"""
