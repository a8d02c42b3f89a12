"""Rule declarations in general, and the rules of the format."""
