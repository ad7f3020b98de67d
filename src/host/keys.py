"""The table of keys: which keys each JSON file has, the types of their values, and their meanings.

The readers look up keys by name. From this table come the suggestions for misspelt keys, the JSON
Schemas in core/schema, and the tables of keys in docs. To add a key, add a row to FILES or OBJECTS,
and run `release/keys.py`. Only a run that finds an unknown key loads this module.

A type is written as it is shown: `string`, `boolean or array of strings`, `array of arguments`. The
words in it are the names in PATTERNS and OBJECTS, and string, non-empty string, boolean, number,
integer and value (of a variable).
"""

from typing import NamedTuple

_WORD = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_PROGRAM = "[A-Za-z0-9_][A-Za-z0-9._+-]*"
_CONSTRAINT = r" *(>=|<=|==|>|<) *[0-9]+(\.[0-9]+)* *"
_CONSTRAINTS = f"{_CONSTRAINT}(,{_CONSTRAINT})*"

# The types of strings, each with a regular expression that the whole string matches.
PATTERNS = {
    "checksum": "[0-9a-f]{64}",
    "argument name": r"--(?!help$)[A-Za-z0-9][A-Za-z0-9_-]*|[A-Za-z0-9][A-Za-z0-9_-]*(\.\.\.)?",
    "folder": "[^/:][^:]*",
    "package name": "[a-z0-9]([a-z0-9-]*[a-z0-9])?",
    "package version": "[A-Za-z0-9][A-Za-z0-9.!+_-]{0,99}",
    "plugin name": "[a-z0-9][a-z0-9._-]{0,63}",
    "duration": "[0-9]{1,6}[smh]",
    "lock name": _WORD,
    "output": "output",
    "program": _PROGRAM,
    "program in the folder": r"[^./-][^/]*",
    "reference": rf"{_WORD}:.+",
    "short option": "-[A-Za-z0-9]",
    "variable": "[A-Za-z_][A-Za-z0-9_]*",
    "version": r"([0-9]+(\.[0-9]+)*)?",
    "version label": "[A-Za-z0-9][A-Za-z0-9._+!-]{0,127}",
    "versioned program": f" *{_PROGRAM} *({_CONSTRAINTS})?",
    "versions": f"({_CONSTRAINTS})?",
    "word": _WORD,
    "words of a command": f" *{_WORD}( +{_WORD})* *",
    "words of a category": f" *{_WORD}( +{_WORD})* *",
}


# Types that are one of several others.
ALTERNATIVES = {"secret": ("reference", "optional reference")}


class Key(NamedTuple):
    """A key of an object.

    type       the type of its value, as the tables show it
    meaning    what it does, in Markdown; the tables of the documentation show this text
    choices    the only values that it can have, or ()
    only       in an argument: "option" or "positional" if only these have the key, "value" if a
               flag cannot have it, "" if every argument can
    """

    name: str
    type: str
    meaning: str
    choices: tuple[str, ...] = ()
    only: str = ""


class Object(NamedTuple):
    """The keys of an object: of a whole file, or of a value in one.

    title       the name of the file, or of the value
    meaning     what it describes
    keys        its keys
    required    the names of the keys that it must have
    base        the file whose keys it has, too, or ""
    meanings    what keys of `base` mean in this file, if it is something else
    """

    title: str
    meaning: str
    keys: tuple[Key, ...]
    required: tuple[str, ...] = ()
    base: str = ""
    meanings: tuple[tuple[str, str], ...] = ()


_EFFECTS = ("read", "change", "destroy")

_DEFAULTS = (
    "envs",
    "env_files",
    "required_envs",
    "group",
)  # keys that commands below inherit
_DEFAULT = (
    "a default for all commands below the category. For each name, the nearest category wins; the"
    " ranks are the same as in command.json"
)
_PROJECT_DEFAULT = (
    "a default for the project's commands, as in a category.json; paths are relative to"
    " `.<program>`"
)
_PLUGIN_PATH = (
    "folders in the plugin's directory that a run of each of its commands appends to PATH, so that"
    " scripts find their neighbours"
)
_NOT_MOVED = "has no effect in this file; only a command moves"
_PATH_BELOW = (
    "folders, relative to this file, that a run of each command below [appends to"
    " PATH](#neighbours-on-path)"
)

# How runs are recorded and limited. Every file that describes runs has these keys.
_SUPERVISION = (
    Key(
        "record",
        "boolean or output",
        "`true`: each run is written to the [history](#recorded-and-limited-runs); `output`: with"
        " the last 64 KiB of its output",
    ),
    Key(
        "timeout",
        "duration",
        "the time limit of a run, such as `90s`, `10m` or `2h`. After it, the run and everything"
        " that it started are ended, with status 124; `0s` means no limit",
    ),
    Key(
        "exclusive",
        "boolean or lock name",
        "`true`: only one run of the command at a time; others fail with status 75. A name: only"
        " one run of all commands with this name. `wait`: like `true`, but others wait",
    ),
)

# The files, each with the name of its schema.
FILES = {
    "command": Object(
        "command.json",
        "A command: what it runs, with which variables and arguments, and how it is listed. A key"
        " with the value null is treated as absent.",
        (
            Key("name", "string", "the display name"),
            Key("description", "string", "one line, shown in listings"),
            Key(
                "entrypoint",
                "non-empty string",
                "a file inside the command's folder, or `package.module:attr`. Without the key, a"
                " [script named `main`](#scripts) in the folder runs. Without such a script, the"
                " folder is a category, which a category.json may describe",
            ),
            Key("script", "non-empty string", "another name for `entrypoint`"),
            Key(
                "envs",
                "object of values",
                "variables (rank 2) and their values; `$NAME` and `${NAME:-default}` are"
                " [expanded](#expansion)",
            ),
            Key(
                "env_files",
                "array of strings",
                "paths of `.env` files (rank 4), relative to the folder or absolute; a later file"
                " wins over an earlier one",
            ),
            Key(
                "path",
                "array of folders",
                "folders, relative to this file, that a run [appends to PATH](#neighbours-on-path)",
            ),
            Key(
                "required_envs",
                "array of variables or required variables",
                "variables that must be set and not empty, by name or as"
                " [objects](#required-variables). Otherwise nothing runs",
            ),
            Key(
                "secrets",
                "object of secrets",
                "[references](#secrets) to the values of variables (rank 4.5)",
            ),
            Key(
                "requires",
                "array of versioned programs or required programs",
                "programs that must be on PATH: [names with versions, or"
                " objects](#required-programs). Otherwise nothing runs",
            ),
            Key(
                "os",
                "array of strings",
                "the systems on which the command runs, `linux` and `mac`; by default all",
            ),
            Key(
                "sudo",
                "boolean or array of strings",
                "whether the command needs sudo, always or on the named systems; listings show"
                " `[sudo]`",
            ),
            Key("group", "string", "the heading under which the command is listed"),
            Key(
                "aliases",
                "array of words",
                "other names of the command in its category",
            ),
            Key(
                "hidden",
                "boolean",
                "whether the command runs, but only `--all` lists it",
            ),
            Key(
                "args",
                "array of arguments",
                "the [arguments](#declared-arguments) of the command, in the order of the usage"
                " line",
            ),
            Key(
                "confirm",
                "non-empty string",
                "a [question](#questions-and-effects) that the user must answer with yes before"
                " each run",
            ),
            Key(
                "effects",
                "string",
                "[what a run does](#questions-and-effects): `read`, `change` or `destroy`",
                choices=_EFFECTS,
            ),
            Key(
                "help",
                "string",
                "what responds to `--help` as the only argument: `script` or `page`. For the"
                " default, see [Running](#running)",
                choices=("script", "page"),
            ),
            Key(
                "starts_commands",
                "boolean",
                "whether the command [starts other commands or programs](#questions-and-effects)"
                " that its caller chooses",
            ),
            Key(
                "output",
                "string",
                "`json`: stdout is one JSON value, which an [assistant](assistants.md) gets as"
                " data",
                choices=("json",),
            ),
            Key(
                "schema",
                "non-empty string",
                "with `output`: a file in the command's folder with the JSON Schema of that value",
            ),
            Key(
                "examples",
                "array of examples",
                "command lines for the help page: objects with `command` and `description`",
            ),
            Key(
                "installed_when",
                "condition",
                '`{"command": NAME}` or `{"path": PATH}`: listings show `✓` beside a `setup`'
                " command if the program NAME is on PATH, or if PATH exists",
            ),
            Key(
                "deprecated",
                "non-empty string",
                "what to use instead; a run [warns](#deprecated-and-moved-commands), and listings"
                " show `[deprecated]`",
            ),
            Key(
                "moved_to",
                "words of a command",
                "the words of the command that [runs in place](#deprecated-and-moved-commands) of"
                " this one, with a warning; no `entrypoint` is needed",
            ),
            Key(
                "sources",
                "boolean",
                "`false`: a command in Python (`package.module:attr`) starts with its caller's"
                " environment; settings.conf, `.env` files and `envs` have no effect",
            ),
            Key(
                "shell",
                "boolean",
                "`true`: the [calling shell evaluates](#commands-that-change-the-calling-shell) the"
                " lines that the command writes to `$CLI_SHELL_FILE`",
            ),
            *_SUPERVISION,
        ),
        required=("name", "description"),
    ),
    "category": Object(
        "category.json",
        "A category: its name, its description, and defaults for the commands below it.",
        (
            Key(
                "default",
                "non-empty string",
                "the command that runs if no word follows the category, or if an option follows;"
                " `help` or `--help` then shows the listing",
            ),
        ),
        base="command",
        meanings=(
            ("name", "shown in listings; by default, the name of the folder"),
            ("description", "shown in listings"),
            (
                "entrypoint",
                "the file that runs if the first word after the category starts with `-`",
            ),
            *((name, _DEFAULT) for name in (*_DEFAULTS, "requires")),
            ("path", _PATH_BELOW),
            ("moved_to", _NOT_MOVED),
        ),
    ),
    "project": Object(
        "project.json",
        "A project: its name, its description, and defaults for all of its commands.",
        (
            Key(
                "assistants",
                "boolean",
                "`true`: the project's owner allows [assistants](assistants.md) to run the"
                " project's commands",
            ),
        ),
        base="command",
        meanings=(
            ("name", "shown in listings; by default, the name of the directory"),
            ("description", "shown in listings"),
            *((name, _PROJECT_DEFAULT) for name in _DEFAULTS),
            ("path", _PATH_BELOW),
            ("moved_to", _NOT_MOVED),
        ),
    ),
    "cli": Object(
        "cli.json",
        "An installation: its name, its version, and the directories of its commands and plugins.",
        (
            Key(
                "name",
                "non-empty string",
                "the name that `--version` and the root listing show",
            ),
            Key(
                "version",
                "non-empty string",
                "the version of your commands. `self info` also shows the version of the program",
            ),
            Key("description", "string", "shown in the root listing"),
            Key(
                "min_version",
                "non-empty string",
                "the oldest version of cli-host that works with this installation, such as `1.2`",
            ),
            Key(
                "commands_dir",
                "string",
                "the directory of commands, relative to the root; by default `commands`",
            ),
            Key(
                "plugins_dir",
                "string",
                "the directory of plugins, relative to the root; by default `plugins`",
            ),
            Key("projects", "boolean", "`false` turns [projects](#projects) off"),
            *_SUPERVISION,
            Key(
                "history",
                "history",
                "the limits of the [history](#recorded-and-limited-runs)",
            ),
            Key(
                "team",
                "team",
                "the settings of the [team](#an-installation-for-a-team)",
            ),
        ),
        required=("name", "version"),
    ),
    "plugin": Object(
        "plugin.json",
        "A directory plugin: its name, and the location of its commands and hooks.",
        (
            Key(
                "name",
                "string",
                "the plugin's name, unless `--name` is given; it consists of `a-z`, `0-9`, `.`,"
                " `_` and `-`",
            ),
            Key("version", "string", "shown by `self plugin list` and `show`"),
            Key("description", "string", "shown by `self plugin list` and `show`"),
            Key(
                "directory",
                "string",
                "the subdirectory that contains the categories; by default, the plugin's own"
                " directory",
            ),
            Key("hooks", "string", "a Python file with hooks"),
            Key(
                "min_version",
                "version",
                "the oldest version of cli-host that works with the plugin, such as `1.2`; an"
                " older version refuses to add it",
            ),
            Key(
                "scripts",
                "scripts",
                "turns scripts into commands: with `{}`, the words are the file names;"
                ' `{"prefix": "acme-", "split": "-"}` makes `acme-db-copy` the command `db copy`',
            ),
            Key("path", "array of folders", _PLUGIN_PATH),
        ),
    ),
    "registry": Object(
        "plugins/registry.json",
        "The plugins of an installation, in order of precedence.",
        (
            Key("version", "string", "the version of this format"),
            Key("plugins", "array of registered plugins", "the plugins"),
        ),
        required=("version", "plugins"),
    ),
    "catalogue": Object(
        "catalogue.json",
        "A list of plugins that `self plugin search` finds and `self plugin add` accepts by name.",
        (Key("plugins", "array of listed plugins", "the plugins"),),
        required=("plugins",),
    ),
}

# The objects in these files, each with the word for it in types.
OBJECTS = {
    "history": Object(
        "The limits of the history",
        "How many runs the history keeps.",
        (
            Key("runs", "integer", "the newest runs that are kept; by default 10,000"),
            Key("days", "integer", "how many days a run is kept; by default 90"),
        ),
    ),
    "argument": Object(
        "Declared arguments",
        "An argument of a command.",
        (
            Key(
                "name",
                "argument name",
                "a name such as `env` declares a positional argument, and `--force` an option."
                " `files...` repeats, and no positional argument may follow it",
            ),
            Key(
                "short",
                "short option",
                "a short name of an option, such as `-f`",
                only="option",
            ),
            Key(
                "value",
                "non-empty string",
                'the placeholder for an option\'s value in usage lines (`"N"`); without it, the'
                " option is a flag",
                only="option",
            ),
            Key(
                "type",
                "string",
                "`string` (default), `integer`, `number`, `path`, `file` (must exist) or"
                " `directory` (must exist)",
                choices=("string", "integer", "number", "path", "file", "directory"),
                only="value",
            ),
            Key(
                "choices",
                "printed choices or array of strings",
                'the accepted values; or `{"program": NAME}`, a program in the command\'s folder'
                " that prints one value per line. Tab and the prompt run this program; a run does"
                " not check values against its output",
                only="value",
            ),
            Key(
                "default",
                "string",
                "the value of an absent argument; not with `required`",
            ),
            Key(
                "required",
                "boolean",
                "`true`: the argument must be given; required positional arguments come first",
                only="value",
            ),
            Key(
                "complete",
                "program in the folder",
                "the completion: `file`, `directory`, `none`, or the name of a program in the"
                " command's folder",
                only="value",
            ),
            Key("description", "string", "text for the help page"),
            Key(
                "repeats",
                "boolean",
                "`true`: the option may be given any number of times, and the script gets each"
                " value",
                only="option",
            ),
            Key(
                "env",
                "variable",
                "the name of a variable of the caller, whose value replaces an absent argument."
                " Even an empty value takes precedence over `default`",
            ),
            Key(
                "negatable",
                "boolean",
                "`true`: a flag such as `--cache` also has `--no-cache`; its `default` may be"
                ' `"true"`',
                only="option",
            ),
            Key(
                "conflicts",
                "array of strings",
                "names of arguments that must not be given together with this one; a flag with the"
                " value `false` is treated as absent",
            ),
            Key(
                "pattern",
                "non-empty string",
                "a regular expression (Python's `re`) that the whole text must match",
                only="value",
            ),
            Key(
                "secret",
                "boolean",
                "`true`: the value is shown nowhere, and the prompt does not echo it; the argument"
                " has no `default`",
                only="value",
            ),
            Key(
                "passthrough",
                "boolean",
                "`true`: the argument's word may look like an option or be `--`. If the argument"
                " repeats, it takes every word after the positional arguments before it, unchecked",
                only="positional",
            ),
            Key(
                "effects",
                "string",
                "of an option: the effects of a run with this option, if they are stronger than"
                " the command's [effects](#questions-and-effects)",
                choices=_EFFECTS,
                only="option",
            ),
        ),
        required=("name",),
    ),
    "printed choices": Object(
        "Printed choices",
        "A program that prints the accepted values of an argument.",
        (
            Key(
                "program",
                "program in the folder",
                "the name of a program in the command's folder",
            ),
        ),
        required=("program",),
    ),
    "required variable": Object(
        "Required variables",
        "A variable that must be set and not empty.",
        (
            Key("name", "variable", "the variable"),
            Key(
                "hint",
                "string",
                "what to do if the variable is not set; the error shows this text instead of"
                " listing where the variable can be set",
            ),
            Key(
                "type",
                "string",
                "`url`, `port`, `integer`, `path` or `email`: if the value has another form,"
                " nothing runs (status 1)",
                choices=("url", "port", "integer", "path", "email"),
            ),
            Key(
                "secret",
                "boolean",
                "`true`: the value is masked wherever it would be shown, whatever the variable's"
                " name is",
            ),
        ),
        required=("name",),
    ),
    "optional reference": Object(
        "Optional secrets",
        "A reference with more properties.",
        (
            Key("reference", "reference", "the reference"),
            Key(
                "optional",
                "boolean",
                "`true`: if the reference cannot be resolved, the run warns and goes on, and the"
                " variable stays unset",
            ),
        ),
        required=("reference",),
    ),
    "required program": Object(
        "Required programs",
        "A program that must be on PATH.",
        (
            Key("program", "program", "the name of the program"),
            Key(
                "version",
                "versions",
                "the versions that work, such as `>=1.6` or `>=1.6,<2`",
            ),
            Key(
                "hint",
                "string",
                "what to do if the program is missing; the error shows this text",
            ),
        ),
        required=("program",),
    ),
    "example": Object(
        "Examples",
        "A command line that the help page shows.",
        (
            Key("command", "string", "the command line"),
            Key("description", "string", "what it does"),
        ),
        required=("command",),
    ),
    "condition": Object(
        "Conditions of installed tools",
        "A program or path that a `setup` command installs; the object has one of the keys.",
        (
            Key("command", "string", "the name of a program on PATH"),
            Key("path", "string", "a path"),
        ),
    ),
    "team": Object(
        "Teams",
        "The settings of a team.",
        (
            Key(
                "follow",
                "string",
                "whether listings, help pages and `self` commands report new commits of the"
                " team's repository: `notice` or `never` (the default); see [notices](#notices)",
                choices=("notice", "never"),
            ),
            Key(
                "catalogue",
                "array of strings",
                "addresses of [catalogues](#catalogues)",
            ),
        ),
    ),
    "scripts": Object(
        "Words of scripts",
        "How the names of script files become the words of commands.",
        (
            Key(
                "prefix",
                "non-empty string",
                "the prefix is removed from the names of files directly in the directory; files"
                " without it are left out",
            ),
            Key(
                "split",
                "non-empty string",
                "the text that separates words: with `-` and the prefix `acme-`, the file"
                " `acme-db-backup` is `db backup`",
            ),
            Key(
                "under",
                "words of a category",
                "the words of a category for all commands: with `ops db`, the file `backup` is"
                " `ops db backup`",
            ),
            Key(
                "files",
                "boolean",
                "with `false`, script files are not commands, and `under` applies to the folders"
                " with definitions",
            ),
        ),
    ),
    "registered plugin": Object(
        "Registered plugins",
        "A plugin of an installation.",
        (
            Key("name", "plugin name", "the name of the plugin"),
            Key(
                "kind",
                "string",
                "`git`, `local`, `archive`, `pip`, or `environment` for a package that you"
                " installed into the program's Python environment",
                choices=("git", "local", "archive", "pip", "environment"),
            ),
            Key("source", "string", "where the plugin comes from"),
            Key("version", "string", "the version of the plugin"),
            Key("description", "string", "one line"),
            Key("directory", "string", "the subdirectory that contains the categories"),
            Key("hooks", "string", "a Python file with hooks"),
            Key("ref", "string", "the branch or tag that the plugin follows"),
            Key("commit", "string", "the commit, if the plugin comes from git"),
            Key("sha256", "string", "the checksum of an archive or wheel"),
            Key(
                "installedAt",
                "string",
                "the time at which the plugin was added, in UTC",
            ),
            Key("enabled", "boolean", "`false`: the plugin is turned off"),
            Key(
                "dev",
                "boolean",
                "`true`: the plugin is a link to a directory, so that edits take effect at once",
            ),
            Key(
                "scripts",
                "scripts",
                "the [words of scripts](#scripts); wins over plugin.json",
            ),
            Key("path", "array of folders", f"{_PLUGIN_PATH}; wins over plugin.json"),
            Key("pinned", "boolean", "`true`: `update` skips the plugin"),
            Key(
                "versions",
                "array of version labels",
                "the versions that are kept for `rollback`, oldest first",
            ),
            Key(
                "words",
                "array of strings",
                "the first words of the plugin's commands when it was added; an unknown word that"
                " is one of these names the plugin if its files are missing",
            ),
            Key(
                "packages",
                "array of packages",
                "the packages from an index in the folder of a package",
            ),
            Key(
                "python",
                "string",
                "the only version of Python that can load the compiled code of a package",
            ),
        ),
        required=("name", "kind"),
    ),
    "package": Object(
        "Packages",
        "A package in the folder of a plugin.",
        (
            Key("name", "package name", "the canonical name of the package"),
            Key("version", "package version", "the installed version"),
            Key(
                "sha256",
                "array of checksums",
                "the checksums of all files that the index lists for this version",
            ),
            Key("built", "boolean", "`true`: it is built from a source distribution"),
        ),
        required=("name", "version", "sha256"),
    ),
    "listed plugin": Object(
        "Listed plugins",
        "A plugin in a catalogue.",
        (
            Key("name", "plugin name", "the name of the plugin"),
            Key("source", "non-empty string", "a SOURCE for `self plugin add`"),
            Key("ref", "string", "the branch, tag or commit of a git repository"),
            Key("sha256", "string", "the checksum of an archive, wheel or package"),
            Key("description", "string", "shown by `self plugin search`"),
            Key("owner", "string", "the person or team responsible for the plugin"),
        ),
        required=("name", "source"),
    ),
}


def keys_of(kind: str) -> dict[str, Key]:
    """Return the keys of a file or object by name; `kind` is a name in FILES or OBJECTS."""
    described = FILES.get(kind)
    if described is None:
        described = OBJECTS[kind]

    keys: dict[str, Key] = {}
    if described.base:
        keys = keys_of(described.base)
    # An object may give a key of its base another meaning.
    for name, meaning in described.meanings:
        keys[name] = keys[name]._replace(meaning=meaning)

    for key in described.keys:
        keys[key.name] = key
    return keys


def words_of(written: str) -> tuple[list[str], list[str]]:
    """Return the words of a written type: those of the value itself, and those of array items.

    An array is the last alternative::

        words_of("boolean or array of strings") == (["boolean"], ["string"])
    """
    of_value, _, of_items = written.partition("array of ")

    words = []
    for word in of_value.split(" or "):
        if word:
            words.append(word)
    item_words = []
    for word in of_items.split(" or "):
        if word:
            item_words.append(word.removesuffix("s"))
    return words, item_words
