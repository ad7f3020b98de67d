"""The same commands on many hosts: `cli fleet run|hosts|check`."""
