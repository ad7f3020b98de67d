"""Listings as text."""
