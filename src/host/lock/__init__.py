"""Plugins are asked once, and the lock keeps what they declare.

It is a lock file like those of package managers: nothing waits for it. What only one process may do
at a time is in `host.launch.exclusive` and `builtin_plugins.library.files.file_lock`.
"""
