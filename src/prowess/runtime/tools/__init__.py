"""The four tools of runtime protocol 002, one module each: what it is called with, what it does, what it gives back."""
