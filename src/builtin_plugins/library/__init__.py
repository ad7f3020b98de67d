"""Files, archives, downloads, git and progress on the terminal."""
