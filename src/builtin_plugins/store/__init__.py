"""Versions side by side, with a link to the current one; plugins and `setup` tools use it."""
