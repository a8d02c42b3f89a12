"""One module per command; each exports `command`, a click command. `prowess.cli.main.COMMANDS` lists the commands."""
