"""The client of an organisation's server: one method for each route of `/api/v1`, with the types of its services."""
