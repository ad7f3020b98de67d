"""Plugins are asked once, and the lock keeps what they declare.

It is a lock file as package managers have one. Nothing waits for it: the locks for which runs wait
are in `host.launch.exclusive`.
"""
