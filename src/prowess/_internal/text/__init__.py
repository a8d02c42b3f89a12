"""Text helpers: JSON, terminal output, words, hosts of URLs, names of variables."""
