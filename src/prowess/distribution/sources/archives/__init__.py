"""Archives: one reader, which checks all of an archive before the first byte of it is written."""
