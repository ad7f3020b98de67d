"""Serve the commands of an installation as tools for an assistant, over MCP."""
