"""Gates: checks that a call passes before its tool runs, in the order of the executor."""
