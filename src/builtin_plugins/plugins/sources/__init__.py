"""The sources of plugins: git repositories, archives, Python packages and local directories."""
