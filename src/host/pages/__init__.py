"""What people read: listings, help, variables, `--explain`, completion and questions."""
