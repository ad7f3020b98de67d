"""`setup` on Linux: `install` prepares a version, `swap` activates it, `ownership` checks files."""
