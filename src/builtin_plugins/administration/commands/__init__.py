"""The `self` commands, one module each."""
