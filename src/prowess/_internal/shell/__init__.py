"""Parse simple shell command lines: words, commands and redirections, as far as they are known without running them."""
