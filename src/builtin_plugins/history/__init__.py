"""The history of runs: a database for each installation, and the commands that show it."""
