"""Atomic changes to files and directories."""
