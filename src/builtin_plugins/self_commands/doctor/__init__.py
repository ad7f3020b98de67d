"""`self doctor`: what is wrong with an installation, each with its remedy."""
