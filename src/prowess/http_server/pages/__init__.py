"""The pages of the server, rendered on the server. Each page is a function of a `PageRequest` that calls services."""
