"""`help TOPIC`: what the program does that no single command's page tells."""

from __future__ import annotations

from host.run.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.cli.session import Session

DOCS = "https://cli-host.github.io/cli-host/"

_WITHOUT = """\
{version}
There is no installation yet: no {file}.

Usage: {program} self init [DIRECTORY] [--name NAME]

That makes one, with examples to copy from. Without one these answer too:
--version, self version, self info, self doctor, --help.

More: {docs}
"""

TOPICS = {
    "definitions": """\
A command is a folder with a command.json and a script; folders are its words:
commands/team/hello/command.json is {program} team hello.

  "name", "description"   for help pages and listings; required
  "entrypoint"            the script's file name, or package.module:attr
  "args"                  what it takes: {program} help arguments
  "envs"                  variables: { "REGION": "eu", "HOST": "$REGION.x" }
  "env_files"             files of variables: {program} help env-files
  "required_envs"         names that must be set, else nothing runs
  "aliases", "group"      other words for it; the heading it is listed under
  "os", "sudo", "hidden"  ["linux", "mac"]; true; true
  "confirm", "effects"    a question before it runs; read, change or destroy
  "examples"              [{ "command": "hello Ada", "description": "greet" }]

category.json in a folder of commands has its "name" and "description".
{program} self new command <words…> makes one that runs, {program} self edit <words…>
--definition opens its command.json, {program} self lint looks for what is wrong.
""",
    "arguments": """\
"args" in command.json says what a command takes. It is checked before anything
runs, shown in help and completed with Tab; the script finds each as a variable.

  "args": [
    { "name": "stage", "required": true, "choices": ["test", "prod"] },
    { "name": "--count", "short": "-n", "value": "N", "type": "integer",
      "default": "1", "description": "how many" },
    { "name": "--dry-run", "description": "only tell" },
    { "name": "files...", "type": "file" }
  ]

  stage      a word in its place       $ARG_STAGE
  --count N  an option with a value    $ARG_COUNT
  --dry-run  a flag, without "value"   $ARG_DRY_RUN is true or false
  files...   repeats, and comes last   $ARG_FILES_COUNT, $ARG_FILES_1 …

"type" is string, integer, number, path, file or directory; "complete" is file,
directory, none or a program in the command's folder that prints candidates.
The words themselves reach the script untouched, too.
""",
    "precedence": """\
Where a variable has several values, the source of the highest rank wins.

  1  the caller's environment, also when it is empty there
  2  "envs" in the command's command.json
  3  config/settings.conf, sourced by bash
  4  the files in "env_files"; a later file beats an earlier one
  5  the script's own default, ${VAR:-default}

{program} self env <words…> shows where each value of a command comes from.
""",
    "env-files": """\
"env_files": [".env", "$HOME/.acme.env"] in command.json names files of
variables, relative to the command's folder. A missing file is none; one that
cannot be read is an error.

  NAME=value            $NAME, ${NAME} and ${NAME:-default} are replaced
  NAME="two words"      likewise; \\n and other escapes count
  NAME='as it is'       nothing is replaced
  export NAME=value     the same as without export
  # a comment

{program} self env <words…> shows each value with its file and line.
""",
    "plugins": """\
A plugin is a folder of commands, or a Python package with hooks.

  {program} self new plugin NAME       make one that works at once
  {program} self plugin add SOURCE     folder, user/repo, address, archive, pip:NAME
  {program} self plugin list           what is there, from where, in what version
  {program} self plugin update         bring plugins to their newest version
  {program} self plugin remove NAME    take one out

{program} --safe … imports no plugin's Python, when one is in the way.
""",
    "exit-status": """\
    0  done
    1  the installation, a definition or a source of variables is wrong;
       a self command failed; a question got no yes
    2  unknown category, command or option; words that do not fit the
       declared arguments
  126  it is there but cannot start here: another system, not executable
  127  the entrypoint's file or its interpreter is missing
    n  the command's own; 128+n: killed by signal n
""",
    "colour": """\
Colours are for terminals. The first of these that says something decides:

  --color always|never         before the words; auto leaves it to the rest
  NO_COLOR, TERM=dumb          none
  FORCE_COLOR, CLICOLOR_FORCE  also where there is no terminal
""",
}


def topic(name: str, program: str) -> str:
    """Return the page of a topic, "" where there is none of that name."""
    text = TOPICS.get({"color": "colour", "env-file": "env-files"}.get(name, name), "")
    return text.replace("{program}", program)


def without_installation(session: Session, version: str) -> str:
    """Return what --help says where there is no installation."""
    return _WITHOUT.format(
        version=version.rstrip(),
        file=printable(session.layout.config_file),
        program=printable(session.program),
        docs=DOCS,
    )
