"""The arguments that a definition declares, and the words of a command line."""
