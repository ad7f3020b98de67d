"""Questions on the terminal: confirmations, missing arguments, and trust in a project."""
