"""An enrolled machine: its audit service, and the bundle that it keeps up to date."""
