"""How a skill comes into force: visibility, snapshot, hooks, commands, placeholders, the result of a load."""
