"""Add, change or remove one server in an assistant's configuration file."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Collection, Mapping
from typing import Any

import tomlkit

from cli_host_mcp.clients import Client
from cli_host_mcp.json_text import document_of, with_value, without_key

_SERVE = ["mcp", "serve"]
_UNUSUAL_FORM = "its list of servers has a form that cannot be edited automatically"


def existing(
    client: Client, text: str, name: str, command: str
) -> dict[str, Any] | None:
    """Return the entry `name` if it starts this `command`, or None if there is no such entry.

    Raises ValueError if the client could not read the text, or if another server has the name.
    """
    document = _document(client, text)
    entry = _servers(client, document).get(name)
    if entry is None:
        return None

    # An entry that starts another program is somebody else's, whatever its name.
    words = client.argv(entry)
    if words[:3] != [command, *_SERVE]:
        choose = "choose a different name with --name"
        raise ValueError(f"another server is called {name}; {choose}")
    return dict(entry)


def edited(
    client: Client,
    text: str,
    name: str,
    entry: Mapping[str, Any],
    dropped: Collection[str] = (),
) -> str:
    """Return `text` with `entry` as server `name`; an existing entry keeps its other keys.

    The keys `dropped` of an existing entry are removed. Raises ValueError if `existing` raises it
    or if the text cannot be edited.
    """
    launcher = client.argv(entry)[0]
    before = existing(client, text, name, launcher)
    after = dict(before or {})
    for key in dropped:
        after.pop(key, None)
    after.update(entry)
    if after == before:
        return text

    document = _document(client, text)
    servers = _servers(client, document)
    document[client.key] = {**servers, name: after}
    if client.toml:
        return _changed_toml(client, text, document, name, before)
    return _changed_json(client, text, document, name, before)


def without(client: Client, text: str, name: str) -> str:
    """Return the file's text without the existing entry `name`."""
    document = _document(client, text)
    del document[client.key][name]
    if not client.toml:
        remaining = without_key(text, [client.key, name])
        return _checked_json(client, remaining, document)

    parsed = tomlkit.parse(text)
    del parsed[client.key][name]
    remaining = _with_comments_below(text, parsed.as_string())
    if remaining.endswith("\n\n"):
        # `edited` put an empty line above the entry, which was the last one.
        remaining = remaining.rstrip("\n")
        remaining += "\n"
    return _checked_toml(remaining, document)


def shown(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text of a file with only this entry, in the client's configuration format."""
    document = {client.key: {name: entry}}
    if client.toml:
        return str(tomlkit.dumps(document))
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return f"{text}\n"


def read(path: str) -> str:
    """Return the text of a file, or "" if there is none. Raises OSError or ValueError."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None


def write(path: str, text: str) -> None:
    """Replace the file's content atomically; its mode is kept, and a link is followed.

    Raises OSError if that fails; the old file is then unchanged.
    """
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    mode = 0o600
    if os.path.exists(path):
        mode = os.stat(path).st_mode & 0o7777

    descriptor, staged = tempfile.mkstemp(dir=folder, prefix=".mcp-")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.replace(staged, path)
    except BaseException:
        os.unlink(staged)
        raise


def _document(client: Client, text: str) -> dict[str, Any]:
    if client.toml:
        return tomllib.loads(text)
    return document_of(text, comments=client.comments)


def _servers(client: Client, document: Mapping[str, Any]) -> dict[str, Any]:
    servers = document.get(client.key, {})
    if not isinstance(servers, dict):
        raise ValueError(f'"{client.key}": expected an object')  # noqa: TRY004 - of the file
    return servers


def _changed_json(
    client: Client,
    text: str,
    document: Mapping[str, Any],
    name: str,
    before: Mapping[str, Any] | None,
) -> str:
    """Return the text with the changed keys of the entry, which stands in `document`."""
    path = [client.key, name]
    after = document[client.key][name]
    if before is None:
        added = with_value(text, path, after)
        return _checked_json(client, added, document)

    for key in before.keys() - after.keys():
        text = without_key(text, [*path, key])
    for key, value in after.items():
        if key not in before or before[key] != value:
            text = with_value(text, [*path, key], value)
    return _checked_json(client, text, document)


def _checked_json(client: Client, text: str, document: Mapping[str, Any]) -> str:
    """Return the JSON text; raises ValueError unless it parses to `document`."""
    if _document(client, text) != document:
        raise ValueError(_UNUSUAL_FORM)
    return text


def _changed_toml(
    client: Client,
    text: str,
    document: Mapping[str, Any],
    name: str,
    before: Mapping[str, Any] | None,
) -> str:
    """Return the text with the changed keys of the entry, which stands in `document`."""
    after = document[client.key][name]
    if before is None:
        added = f"{text.rstrip()}\n\n{shown(client, name, after)}".lstrip("\n")
        return _checked_toml(added, document)

    parsed = tomlkit.parse(text)
    entry = parsed[client.key][name]
    for key in before.keys() - after.keys():
        del entry[key]
    for key, value in after.items():
        if before.get(key) != value:
            entry[key] = value
    return _checked_toml(parsed.as_string(), document)


def _with_comments_below(before: str, after: str) -> str:
    """Return `after` with the comments that tomlkit removed together with the table above them."""
    old = before.splitlines(keepends=True)
    new = after.splitlines(keepends=True)

    # The removed lines are one block: what follows it is the same in both texts.
    start = 0
    while start < len(new) and old[start] == new[start]:
        start += 1
    end = len(old) - len(new[start:])
    if old[end:] != new[start:]:
        return after

    # Comments at the end of the block describe what comes after it.
    first = end
    while first > start and _is_comment(old[first - 1]):
        first -= 1
    while first < end and not old[first].strip():
        first += 1
    lines = [*new[:start], *old[first:end], *new[start:]]
    return "".join(lines)


def _is_comment(line: str) -> bool:
    """Return whether a line of TOML has no value: it is a comment, or blank."""
    return line.strip()[:1] in ("", "#")


def _checked_toml(text: str, document: Mapping[str, Any]) -> str:
    """Return the TOML text; raises ValueError unless it parses to `document`."""
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        parsed = {}

    # A table without entries may have disappeared from the text.
    empty: dict[str, Any] = {key: {} for key, value in document.items() if value == {}}
    if {**empty, **parsed} != document:
        raise ValueError(_UNUSUAL_FORM)
    return text
