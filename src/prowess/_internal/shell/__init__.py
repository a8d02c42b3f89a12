"""Parse simple shell command lines without running them: words, commands and redirections."""
