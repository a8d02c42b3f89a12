"""The one HTTP client of Prowess, and the credentials that it sends. Nothing else in Prowess fetches over HTTP."""
