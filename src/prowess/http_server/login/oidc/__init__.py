"""Logins by an OpenID Connect issuer: authorization code flow with PKCE, state and nonce."""
