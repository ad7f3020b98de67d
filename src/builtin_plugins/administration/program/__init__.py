"""The program's own files: launcher, shipped files, environment."""
