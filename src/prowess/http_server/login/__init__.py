"""Logins of browsers: by a token in a form, or by an OpenID Connect issuer. What a login is, is kept on the server."""
