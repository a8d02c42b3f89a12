"""The command line. A command parses its arguments, calls the library and passes the result to `output`."""
