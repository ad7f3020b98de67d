"""An example plugin that posts failed runs to a chat."""
