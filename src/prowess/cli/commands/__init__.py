"""One file per command; each exports `command`, a click command. `prowess.cli.main` holds the table."""
