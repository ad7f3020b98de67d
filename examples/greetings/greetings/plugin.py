"""Examples of four hooks. Hooks only return data; the program acts on it."""

from pathlib import Path

from host import CommandDeclaration, CommandTree, EnvSource, hookimpl, printable

_MARKED = ("setup", "greetings-agent")


@hookimpl
def discover_commands(installation):
    """Yield a directory whose scripts are commands, and one command in Python."""
    yield CommandTree(str(Path(__file__).parent / "commands"), plugin="greetings")
    yield CommandDeclaration(
        ("greetings", "shout"),
        {
            "name": "Shout",
            "description": "Greet loudly",
            "entrypoint": "greetings.shout:main",
            "help": "page",
            "args": [
                {"name": "name", "description": "whom to greet", "required": True}
            ],
        },
    )


@hookimpl
def env_sources(installation):
    """Declare the team's greetings.env for the plugin's commands, with the rank of `.env` files."""
    file = str(Path(installation.config_dir) / "greetings.env")
    yield EnvSource("greetings", rank=4, files=(file,), words=("greetings",))


@hookimpl
def render_listing(listing, format):
    """Return the listing as a table in Markdown, for `--format markdown`."""
    if format != "markdown":
        return None
    rows = [(category.words, category.description) for category in listing.categories]
    rows += [
        (command.words, command.definition.description) for command in listing.commands
    ]
    lines = [f"| {' '.join(words)} | {_cell(text)} |" for words, text in sorted(rows)]
    return "\n".join(["| Command | Description |", "|---|---|", *lines, ""])


def _cell(text):
    """Return the text without control characters, and with each `|` escaped."""
    return printable(text).replace("|", "\\|")


@hookimpl
def is_installed(command):
    """Return whether listings mark `setup greetings-agent` as installed; checks only a path."""
    if command.words != _MARKED:
        return None
    return Path("/opt/greetings-agent").exists()
