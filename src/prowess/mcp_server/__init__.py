"""Skills for any host that speaks the Model Context Protocol.

Over standard input and output a server has one session; over HTTP it has one for each client. It offers the four
session tools under their wire names and `skills_list`. Every call goes through the session's executor, so it is
validated, gated and audited like any other call. Artifacts of scripts are resources. `server` needs the `mcp` package;
`host_config` does not.
"""
