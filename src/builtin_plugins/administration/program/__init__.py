"""Own files of this program: launcher, shipped files, environment."""
