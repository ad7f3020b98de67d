"""Several versions of a plugin or a `setup` tool, with a link to the current one."""
