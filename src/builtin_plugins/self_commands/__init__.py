"""How the plugins of this program declare `self` commands, and what these commands share."""
