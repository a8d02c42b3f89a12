"""prowess.lock: reads, writes and merges the list of installed skills. Pure: no files, no network."""
