"""The commands of an installation as tools of an assistant, over MCP."""
