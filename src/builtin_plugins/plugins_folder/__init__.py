"""What is below `plugins/`, and its registry."""
