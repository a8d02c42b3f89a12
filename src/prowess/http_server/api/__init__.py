"""The interface `/api/v1`: one table of routes, from which requests are routed, decoded, checked and described."""
