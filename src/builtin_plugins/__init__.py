"""The built-in plugins, registered as entry points in pyproject.toml like any other plugin.

commands_folder     the directory `commands/`
plugins_folder      the directories in `plugins/`, and their registry
env_sources         settings.conf, `.env` files and `envs`
installed_when      the check mark of `setup` commands whose tool is installed
renderers           listings as text, JSON or a tree
setup               the installer of desktop applications
administration      the `self` commands; hooks in `self_commands` and `plugins.hooks`

`store` and `io` have no hooks; the plugins share them.
"""
