"""Recorded requests: their form for comparison, the parts that differ in every run, drift, and stale recordings."""
