"""What `prowess approve` and `prowess approvals` share."""
