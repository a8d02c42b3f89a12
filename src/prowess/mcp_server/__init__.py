"""Skills for any host that speaks the Model Context Protocol.

Over standard input and output a server has one session; over HTTP it has one session for each client. A server offers
the four session tools under their wire names, and `skills_list`. Every call goes through the session's executor, so the
call is validated, gated and audited. Artifacts of scripts are resources. `server` needs the `mcp` package;
`host_config` does not.
"""
