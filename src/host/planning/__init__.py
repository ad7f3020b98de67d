"""Query plugins and write the lock."""
