"""Blind comparison: a judge chooses the better of two results, and does not know which version made which."""
