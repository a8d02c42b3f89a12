"""Programs that try to escape from the sandbox or exceed its limits; `prowess.execution.self_check` runs them."""
