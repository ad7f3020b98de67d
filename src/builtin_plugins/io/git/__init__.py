"""git, called so that a hostile repository can run nothing."""
