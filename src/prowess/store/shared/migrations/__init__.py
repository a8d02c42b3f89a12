"""Steps from one schema of the shared store to the next, in the order of their revisions. A released step is final."""
