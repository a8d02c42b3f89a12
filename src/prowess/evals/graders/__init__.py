"""Functions that judge a run."""
