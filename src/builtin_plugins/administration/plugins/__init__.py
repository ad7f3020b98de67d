"""Changes to plugins, from fetching a source to writing the registry.

`PluginSource` fetches and installs one kind of plugin. Its object is made from the registry's
`Entry` by `make_source`; only `add` also knows the login in the address that the user gave.
Fetching stages a `PluginVersion`: its entry, and its contents read from the files. `preview` shows
that version, `check_collisions` compares it with other plugins, and `install` makes it current.

A file lock on `plugins/` guards the registry. It is taken twice: to start (`transaction`), and to
install and write (`registry_transaction`). The registry may change in between. If a change is
killed, the next command calls `reconcile`, which repairs what is left:

    killed while fetching       a staging directory          is removed
    killed while installing     a version, a link            both are removed
    the same, no registry yet   a version, a link            an entry is added
    killed while removing       an entry with `removing`     the removal is finished

The next start of the program notices the changes in `plugins/` and rebuilds the cache `cli.lock`.

Each record describes a plugin at one place:

    `ListedPlugin`         in a team's catalogue
    `Entry`                  in the registry
    `PluginSource`           where it comes from, with the code for its kind
    `PluginVersion`          one version, with the contents that its files show
    `DirectoryPlugin`        in `plugins/`, completed from its plugin.json
    `host.run.lock.Plugin`   as the host loaded it
    `KnownPlugin`            all of this together, for `self plugin list`
"""
