"""Secrets from password managers and encrypted files."""
