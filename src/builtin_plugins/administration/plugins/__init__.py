"""Changes to plugins, from fetching a source to writing the registry.

`PluginSource` fetches and installs one kind of plugin; the object only depends on the registry's
`Entry`, so each step makes a new one with `make_source`. Fetching stages a `PluginVersion`: its
entry, and its contents read from the files. `preview` shows it, `check_collisions` compares it with
other plugins, `install` makes it current. The file lock on the registry is taken twice, and the
registry may change in between: to start (`transaction`), and to install and write
(`registry_transaction`).
The next start sees the new stamps of `plugins/` and rebuilds the lock; nothing rebuilds it here.

Other records of plugins: `DirectoryPlugin` is a directory in `plugins/` with its plugin.json,
`host.run.lock.Plugin` the result of loading one, and `Row` a line of `self plugin list`.
"""
