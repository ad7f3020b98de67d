"""The built-in plugins: each is registered as an entry point, like any other plugin."""
