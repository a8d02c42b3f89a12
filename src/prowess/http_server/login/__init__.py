"""Logins of browsers: by a token in a form, or by an OpenID Connect issuer. Logins are kept on the server."""
