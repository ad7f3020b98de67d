"""Files, archives, downloads, git and questions."""
