"""The subcommands of `prowess eval`, one module each."""
