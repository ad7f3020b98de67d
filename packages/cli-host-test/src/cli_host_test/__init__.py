"""Run the tests of an installation's scripts with bats-core."""
