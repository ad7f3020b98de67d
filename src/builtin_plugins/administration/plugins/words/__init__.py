"""`self plugin …`: one module a word."""
