"""The HTTP server of an organisation: its interface `/api/v1`, its pages, and logins."""
