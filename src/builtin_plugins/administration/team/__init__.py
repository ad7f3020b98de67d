"""Installations made from a team's source, and how they stay current."""
