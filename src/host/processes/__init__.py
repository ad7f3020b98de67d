"""Programs: found on PATH, started, bounded in time and ended."""
