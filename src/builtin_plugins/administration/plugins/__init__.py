"""Changes to plugins: from fetching a source to swapping it in under one lock."""
