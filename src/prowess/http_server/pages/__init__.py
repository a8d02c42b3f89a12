"""The pages of the server, rendered on the server."""
