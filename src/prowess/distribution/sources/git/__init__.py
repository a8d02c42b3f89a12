"""Git repositories as sources, read from their objects. Nothing of a repository is checked out or executed."""
