"""The declarations of rules, and those of the rules of the format."""
