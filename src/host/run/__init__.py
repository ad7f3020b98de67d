"""All that a run loads."""
