"""Internal helpers. No module in this package depends on the concept of a skill."""
