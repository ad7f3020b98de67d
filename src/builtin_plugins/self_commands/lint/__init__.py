"""`self lint`: what is wrong with definitions and scripts, each with its place."""
