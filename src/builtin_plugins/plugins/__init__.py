"""Changes to plugins, from fetching a source to writing the registry.

`begin` (`transaction`) locks `plugins/` and reads the registry. `PluginSource` fetches a version
into the staging directory of a `Change`; `make_source` creates it from the registry's `Entry`,
which has no credentials: only `add` has the address that the user gave, with any login.
`plan_change` compares the fetched `PluginVersion` with the registry and returns a `Plan`: nothing,
add, update or restore. `preview` shows it, `check_collisions` compares it with other plugins, and
`Transaction.save` carries it out: the version is moved to `plugins/.versions/<name>/<version>`, and
then the registry is replaced, which makes it the current one. Earlier versions are kept for a
rollback.

A killed change leaves the old registry or the new one. Its other leftovers are below
`plugins/.versions`, and the end of the next change removes them.

These records describe a plugin, in the order in which they are made for a new one:

    `ListedPlugin`           an item of a team's catalogue
    `PluginSource`           where a plugin comes from, with the code for its kind; has an `Entry`
    `Entry`                  an entry of the registry; each former version has its entry in a file
    `PluginVersion`          one version: its entry, where its files are, and what they show
    `Package`                a distribution in the folder of a package, as the registry records it
    `host.PluginFile`        a directory plugin's file with hooks, for the host
    `PluginPackage`          the folders and entry points of a package, for the host
    `host.Disabled`          a plugin that the host must not load
    `host.BrokenPlugin`      a plugin that cannot be used, with a reason from `host.lock.broken`
    `host.lock.plugin.Plugin` a plugin in the lock: an entry point or a file with hooks
    `LoadedPlugin`           an imported plugin of the lock, in `host.lock.loading`
    `PluginAnswer`           the records that hooks returned, in `host.lock.plugin_worker`
    `KnownPlugin`            what `plugin list` shows: entry, state, directory, records in the lock
"""
