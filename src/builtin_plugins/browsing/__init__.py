"""Find a command: `self list`, `self search` and `self pick`."""
