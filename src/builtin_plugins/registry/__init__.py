"""The directory `plugins/` and its registry."""
