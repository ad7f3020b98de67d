"""Where the JSON Schemas of the files are that people and this program write."""


def schema_address(kind: str) -> str:
    """Return where the JSON Schema of `kind`.json is, as "$schema" names it."""
    return (
        f"https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/{kind}.schema.json"
    )
