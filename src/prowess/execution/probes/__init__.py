"""Programs that try to get out of the sandbox or past its bounds; `prowess.execution.self_check` runs them in it."""
