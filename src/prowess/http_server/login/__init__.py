"""Logins of browsers: OIDC, a form for tokens, and sessions on the server."""
