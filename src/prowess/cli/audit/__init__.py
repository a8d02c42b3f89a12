"""Parts of `prowess audit`."""
