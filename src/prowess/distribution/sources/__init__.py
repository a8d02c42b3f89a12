"""Where skills come from: directories, archives, git, indexes, registries, installed packages."""
