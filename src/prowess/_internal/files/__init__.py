"""Access to hostile or shared files: contained opening, digests, atomic writes, locks, private caches."""
