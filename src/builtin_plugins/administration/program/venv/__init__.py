"""The virtual environment that this program runs in."""
