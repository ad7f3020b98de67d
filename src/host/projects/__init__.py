"""The commands of a repository: which directories are projects, and which the user trusts."""
