"""The ways to run a script, one module each; `prowess.execution.sandbox` names what they have in common."""
