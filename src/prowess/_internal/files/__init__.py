"""Files that may be hostile or shared: contained opening, digests, atomic writes, locks, privacy."""
