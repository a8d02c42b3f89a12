"""What an organisation does for people, programs and machines, over its store: one module for each subject.

The command line with `--store`, the HTTP interface and the pages call the same functions. Each takes a `ServiceCall`.
"""
