"""Command lines that run in this process: `--version`, listings, help pages and `self`."""
