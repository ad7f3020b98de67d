"""Run the same command on many hosts: `cli fleet run|hosts|check`."""
