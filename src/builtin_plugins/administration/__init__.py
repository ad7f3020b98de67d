"""The `self` commands."""
