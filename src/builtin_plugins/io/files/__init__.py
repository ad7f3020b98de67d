"""Atomic changes of files and directories."""
