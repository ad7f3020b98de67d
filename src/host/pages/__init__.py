"""What people read: listings, help, variables and `--explain`."""
