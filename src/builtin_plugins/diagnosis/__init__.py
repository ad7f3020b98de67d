"""Explain and check an installation: `self doctor`, `lint`, `env`, `which` and others."""
