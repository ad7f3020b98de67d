"""Words → the command that they name, and its definition.

The stages of a command: a plugin yields a `CommandTree` or a `CommandDeclaration`, which the lock
keeps as `Declared`. A catalog opens it as `FolderNode` or `DeclaredNode`. Resolving words gives a
`Match` with the `Definition`. Listings show it as a `Command`.

The stages of an installation: `Layout` has its paths, `OpenInstallation` adds the content of
cli.json, and `Session` (`host.session`) adds the lock, the catalog and the terminal for everything
that runs in this process. `Program` is the public view of a session.
"""
