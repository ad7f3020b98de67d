"""The `self plugin` commands, one module each."""
