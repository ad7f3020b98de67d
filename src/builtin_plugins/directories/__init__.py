"""Commands of the installation: which trees there are, and how a tree is looked into."""
