"""The words of `self`, one module each."""
