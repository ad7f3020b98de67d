"""`self …`: one module a word."""
