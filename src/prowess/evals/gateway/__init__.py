"""A server on loopback before the provider of another agent: it forwards, books, caps, keeps and replays calls."""
