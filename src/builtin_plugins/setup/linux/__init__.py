"""`setup` on Linux: `install` orders the steps of `prepare` and `swap`; `state` only looks."""
