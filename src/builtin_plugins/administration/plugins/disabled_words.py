"""Empty: its hook is in `hooks`. Environments that were installed before name this module."""
