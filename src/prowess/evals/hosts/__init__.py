"""Hosts of evals: our own agent, and the command lines of other agents."""
