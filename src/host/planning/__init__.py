"""Build the lock: load the plugins, call their hooks, check and store the records."""
