"""What the comments at the top of a script say about its command."""
