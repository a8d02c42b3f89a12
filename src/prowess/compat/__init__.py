"""Interfaces of other libraries on top of our parser, so that programs can switch without a rewrite."""
