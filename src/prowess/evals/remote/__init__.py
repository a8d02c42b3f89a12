"""Units of evals on other machines: the workers of a batch engine, which share the folder of the results."""
