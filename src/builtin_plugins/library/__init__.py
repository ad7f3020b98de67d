"""Files, versions of a directory, archives, downloads, git and progress on the terminal."""
