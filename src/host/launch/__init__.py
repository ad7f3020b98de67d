"""A plan of the run, and the process that it becomes or waits for."""
