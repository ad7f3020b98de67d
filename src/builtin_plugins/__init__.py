"""The built-in plugins, registered as entry points in pyproject.toml like any other plugin.

commands_folder     the directory `commands/`
variable_sources    settings.conf, `.env` files and `envs`
installed_when      the check mark of `setup` commands whose tool is installed
renderers           listings as text, JSON or a tree
setup               the installer of desktop applications
plugins             `self plugin`: sources, changes and versions of plugins
program             the program: launcher, updates, completion
team                installations and projects that people share
diagnosis           `self doctor`, `lint`, `env`, `which`
authoring           `self new`, `edit`, `import`
browsing            `self list`, `search`, `pick`
history             the history of runs

`registry`, `self_commands` and `library` have no hooks; the plugins share them.
"""
