"""Files of evals: the forms in which suites are written, their faults, and conversion between them without loss."""
