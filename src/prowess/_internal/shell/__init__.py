"""Simple shell command lines: their words, commands and redirections, as far as they can be known without running."""
