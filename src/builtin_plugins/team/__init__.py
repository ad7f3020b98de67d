"""Installations made from a team's source."""
