"""Python functions as tools: signature, schema, conversion of arguments and results."""
