"""Questions on the terminal before a run: missing arguments, and trust in a project."""
