"""The proof of `formal/`: read its text, verify it, compile it, and compare what was proved with what runs."""
