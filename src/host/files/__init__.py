"""Paths, JSON files, and files that are replaced whole."""
