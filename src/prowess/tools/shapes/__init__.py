"""Tools and results in the forms of other systems: pure translation of data, without their libraries."""
