"""Plugins are asked once, and the lock keeps what they declare.

It is a lock file as package managers have one, and nothing waits for it: `host.launch.exclusive` has
the locks that runs wait for.
"""
