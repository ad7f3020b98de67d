"""Generate pages, lists of changes and an assistant skill from the definitions of commands."""
