"""The command line: parse arguments, call the library, hand the result to `output`."""
