"""`setup` on Linux: prepare, stage, swap."""
