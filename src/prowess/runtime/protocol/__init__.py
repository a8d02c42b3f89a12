"""A session over JSON lines: requests, methods, answers."""
