"""The sources of variables, in their order, and the environment that they give a command."""
