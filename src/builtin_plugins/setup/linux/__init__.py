"""`setup` on Linux: `install` runs the steps of `prepare` and `swap`; `state` only reads."""
