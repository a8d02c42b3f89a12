"""Skills for any host that speaks the Model Context Protocol.

One server process is one session. It offers the four session tools under their wire names and `skills_list`; every
call goes through the session's executor, so it is validated, refused and audited like a call from anywhere else.
What scripts leave behind are resources. `server` needs the `mcp` package; `host_config` does not.
"""
