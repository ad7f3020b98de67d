"""Runs that are recorded, limited or exclusive, or that a plugin waits for."""
