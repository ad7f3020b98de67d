"""What differs between git, archive, pip and local plugins."""
