"""The differences between git, archive, pip and local plugins."""
