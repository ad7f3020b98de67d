"""Archives of strangers, unpacked so that nothing leaves its place."""
