"""Changes of plugins: from a source to a swap under one lock."""
