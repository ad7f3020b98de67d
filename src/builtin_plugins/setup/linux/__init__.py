"""`setup` on Linux: `install` prepares a version, `swap` makes it current, `ownership` reads."""
