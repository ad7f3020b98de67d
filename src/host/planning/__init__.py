"""Asking plugins what there is, and writing the lock."""
