"""Files and directories that change whole or not at all."""
