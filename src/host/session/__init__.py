"""The installation that this process works on, with its lock and catalog, and words in it."""
