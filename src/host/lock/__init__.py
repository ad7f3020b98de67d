"""Plugins are asked once, and the lock keeps what they declare."""
