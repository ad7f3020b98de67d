"""Build the lock, a cache of all declarations: load plugins, call hooks, check the records."""
