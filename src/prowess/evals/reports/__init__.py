"""Reports of a run of evals: one HTML page, JUnit, a summary in Markdown."""
