"""Changes to plugins, from fetching a source to writing the registry.

`PluginSource` fetches and installs one kind of plugin. `make_source` creates the source from the
registry's `Entry`, which has no credentials; only `add` has the address that the user gave, with
any login. Fetching stages a `PluginVersion`: a version's entry, and the contents read from its
files. `install_staged` has the steps that `add`, `update` and `sync` share: `preview` shows the
staged version, `check_collisions` compares it with other plugins, and `install` makes it current,
by changing the link `plugins/<name>`. Former versions are kept for a rollback.

A file lock on `plugins/` guards the registry. It is taken twice: at the start (`begin_change`), and
to install and write (`locked_registry`). The registry may change in between. If a change is
killed, the next change, or the next start that finds the cache `cli.lock` outdated, calls
`reconcile`, which repairs what is left:

    killed while fetching        the staging directory is removed
    killed while installing      the link and the version are removed
    killed while updating        the link leads to the old version again; the new one is removed
    killed while removing        the link or directory gets its name again, or if the registry has
                                 been written, the removal is finished

The next start of the program notices the changes in `plugins/` and rebuilds the cache `cli.lock`.

These records describe a plugin, in the order in which they are made for a new one:

    `ListedPlugin`           an item of a team's catalogue
    `PluginSource`           where a plugin comes from, with the code for its kind; has an `Entry`
    `Entry`                  an entry of the registry; each former version has its entry in a file
    `PluginVersion`          one version: its entry, where its files are, and what they show
    `Package`                a distribution in the folder of a package, as the registry records it
    `host.PluginFile`        a directory plugin's file with hooks, for the host
    `PluginPackage`          the folders and entry points of a package, for the host
    `host.Disabled`          a plugin that the host must not load
    `host.BrokenPlugin`      a plugin that cannot be used, with the reason
    `host.RecordedWords`     the first words that a plugin had when it was added
    `host.lock.plugin.Plugin` a plugin in the lock: an entry point or a file with hooks
    `LoadedPlugin`           an imported plugin of the lock, in `host.lock.loading`
    `PluginAnswer`           the records that hooks returned, in `host.lock.plugin_worker`
    `KnownPlugin`            what `plugin list` shows: entry, state, directory, records in the lock
"""
