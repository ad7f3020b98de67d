"""`self publish-installer`: print a script that installs the program for team members."""

import shlex

from builtin_plugins.self_commands.decorator import argument, self_command
from builtin_plugins.self_commands.templates import fill_template
from builtin_plugins.team.init import source_of_installation
from builtin_plugins.team.source import team_source
from host import UsageError, printable
from host.session.session import Session

_SCHEMES = ("https", "ssh", "git", "file")


@self_command(
    "publish-installer",
    "Print an install.sh for your team",
    argument("source", complete="none"),
    hidden=True,  # rarely needed, so only `--all` lists it
)
def publish_installer(session: Session, source: str | None) -> None:
    """Print an install.sh that installs the program and runs self init --from SOURCE.

    The default SOURCE is the one from which this installation was made. Publish the script where
    your colleagues can reach it. They then run: curl --proto '=https' -LsSf ADDRESS | sh
    """
    if not source:
        source = source_of_installation(session.layout.root, session.environ)
    if not source:
        raise UsageError("this installation does not record its source", "add SOURCE")

    address = team_source(source).entry.source
    scheme, has_scheme, _ = address.partition("://")
    if has_scheme and scheme.lower() not in _SCHEMES:
        # With http, for example, others could change what the colleagues install.
        what = f"{address}: {scheme} is not safe for an installer"
        raise UsageError(what, f"use {', '.join(_SCHEMES[:-1])} or {_SCHEMES[-1]}")

    for text in (session.program, address):
        # The script's comment would end at a line break.
        if printable(text) != text:
            raise UsageError(f"{text}: contains a control character")

    program = shlex.quote(session.program)
    quoted = shlex.quote(address)
    values = {
        "WHAT": f"{program} from {quoted}",
        "ADDRESS": "ADDRESS_OF_THIS_FILE",
        "INIT": f'"$env/bin/cli" self init --from {quoted} --name {program} "$@"',
    }
    files = fill_template("installer", **values)
    session.show(files["install.sh"])
