"""Commands that click declares: what the lock keeps of them, and what a child process asks them."""
