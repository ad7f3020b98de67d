"""The virtual environment that this program runs in."""

import sys


def in_venv() -> bool:
    """Return whether this program runs in a virtual environment."""
    return sys.prefix != sys.base_prefix
