"""The menu entry of an application (freedesktop.org Desktop Entry Specification 1.5)."""

from builtin_plugins.setup.linux.state import menu_mark

_STRING_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def menu_entry(tool: str, name: str, program: str, icon: str, categories: str) -> str:
    """Return a menu entry that starts `program`, an absolute path; `icon` "" leaves that out."""
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        f"Name={_string(name)}",
        f"Exec={_string(_command(program))} %U",
        f"Icon={_string(icon)}" if icon else "",
        "Terminal=false",
        f"Categories={categories.rstrip(';')};" if categories else "",
        menu_mark(tool),
    ]
    return "".join(f"{line}\n" for line in lines if line)


def _command(program: str) -> str:
    """Quote `program` for Exec, whose first word can hold neither `=` nor, for GLib, `%`."""
    if "=" in program or "%" in program:
        script = _quoted('exec "$0" "$@"')
        return f"/bin/sh -c {script} {_quoted(program)}"
    return _quoted(program)


def _quoted(argument: str) -> str:
    if argument.isascii() and argument.replace("/", "").replace("-", "").isalnum():
        return argument
    for special in '\\"`$':
        argument = argument.replace(special, "\\" + special)
    return '"' + argument.replace("%", "%%") + '"'


def _string(text: str) -> str:
    """Escape a value of type string; a blank at its start would be lost."""
    escaped = "".join(_STRING_ESCAPES.get(character, character) for character in text)
    return "\\s" + escaped[1:] if escaped.startswith(" ") else escaped
