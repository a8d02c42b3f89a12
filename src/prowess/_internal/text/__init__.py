"""Text: JSON, terminal output, words, percent encoding."""
