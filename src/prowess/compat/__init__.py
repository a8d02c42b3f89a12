"""Interfaces of other libraries on top of the parser of Prowess, so that programs can switch without a rewrite."""
