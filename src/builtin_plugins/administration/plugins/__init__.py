"""Changes to plugins, from fetching a source to writing the registry.

`PluginSource` fetches and installs one kind of plugin; the object only depends on the registry's
`Entry`, so each step makes a new one with `make_source`. Fetching stages a `PluginVersion`: its
entry, and its contents read from the files. `preview` shows that version, `check_collisions`
compares it with other plugins, and `install` makes it current.

The file lock on the registry is taken twice: to start (`transaction`), and to install and write
(`registry_transaction`). The registry may change in between. The next start of the program notices
the changes in `plugins/` and rebuilds the lock; this package does not rebuild it.

Other records of plugins: `DirectoryPlugin` is a directory in `plugins/` with its plugin.json,
`host.run.lock.Plugin` is the result of loading one, and `Row` is a line of `self plugin list`.
"""
