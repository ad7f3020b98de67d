"""The program's own files: the launcher, the shipped files and the virtual environment."""
