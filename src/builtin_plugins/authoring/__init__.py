"""Write commands: `self new`, `self edit` and `self import`."""
