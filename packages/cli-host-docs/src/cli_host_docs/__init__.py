"""Pages, comparisons and a skill for assistants, from the definitions of an installation."""
