"""Skills of installed packages: found by their records, held back until trusted, compared with what was recorded."""
