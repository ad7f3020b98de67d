"""Add, change or remove one server in an assistant's configuration file."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from itertools import dropwhile, takewhile, zip_longest
from typing import Any

import tomlkit

from cli_host_mcp.clients import Client

_INDENT = re.compile(r"\n([ \t]+)\"")
_SERVE = ["mcp", "serve"]


def existing(client: Client, text: str, name: str, command: str) -> dict[str, Any] | None:
    """Return the entry `name` if it starts this `command`, or None if there is no such entry.

    Raises ValueError if the client could not read the text, or if another server has the name.
    """
    entry = _servers(client, _document(client, text)).get(name)
    if entry is None:
        return None
    args = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(args, list) or args[:2] != _SERVE or entry.get("command") != command:
        raise ValueError(f"another server is called {name}; choose a different name with --name")
    return dict(entry)


def edited(client: Client, text: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return `text` with `entry` as server `name`; an existing entry keeps its other keys.

    Raises ValueError if `existing` raises it or if the text cannot be edited.
    """
    before = existing(client, text, name, entry["command"])
    after = {**(before or {}), **entry}
    if after == before:
        return text
    document = _document(client, text)
    document[client.key] = {**_servers(client, document), name: after}
    if not client.toml:
        return _json_text(document, text)
    if before is None:
        added = f"{text.rstrip()}\n\n{shown(client, name, entry)}".lstrip("\n")
        return _checked(added, document)
    written = tomlkit.parse(text)
    for key in entry:
        if before.get(key) != after[key]:
            written[client.key][name][key] = after[key]
    return _checked(written.as_string(), document)


def without(client: Client, text: str, name: str) -> str:
    """Return the file's text without the existing entry `name`."""
    document = _document(client, text)
    del document[client.key][name]
    if not client.toml:
        return _json_text(document, text)
    written = tomlkit.parse(text)
    del written[client.key][name]
    return _checked(_with_comments_below(text, written.as_string()), document)


def shown(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text of a file with only this entry, in the client's configuration format."""
    document = {client.key: {name: entry}}
    if client.toml:
        return str(tomlkit.dumps(document))
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


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
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    mode = os.stat(path).st_mode & 0o7777 if os.path.exists(path) else 0o600
    descriptor, staged = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".mcp-")
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
    return tomllib.loads(text) if client.toml else _json(text)


def _servers(client: Client, document: Mapping[str, Any]) -> dict[str, Any]:
    servers = document.get(client.key, {})
    if not isinstance(servers, dict):
        raise ValueError(f'"{client.key}": expected an object')  # noqa: TRY004 - of the file
    return servers


def _json_text(document: Mapping[str, Any], before: str) -> str:
    indent = _INDENT.search(before)
    shown = json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=False)
    return shown + ("\n" if before.endswith("\n") or not before else "")


def _with_comments_below(before: str, after: str) -> str:
    """Return `after` with the comments that tomlkit removed together with the table above them."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    pairs = enumerate(zip_longest(old, new))
    start = next(number for number, (one, other) in pairs if one != other)
    end = len(old) - len(new[start:])
    if old[end:] != new[start:]:
        return after
    below = [*takewhile(lambda line: line.strip()[:1] in ("", "#"), reversed(old[start:end]))]
    kept = dropwhile(lambda line: not line.strip(), reversed(below))
    return "".join([*new[:start], *kept, *new[start:]])


def _checked(text: str, document: Mapping[str, Any]) -> str:
    """Return the TOML text; raises ValueError unless it parses to `document`."""
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        written = {}
    empty: dict[str, Any] = {key: {} for key, value in document.items() if value == {}}
    if {**empty, **written} != document:
        raise ValueError("its list of servers has a form that cannot be edited automatically")
    return text


def _json(text: str) -> dict[str, Any]:
    document = json.loads(text or "{}", object_pairs_hook=_once)
    if not isinstance(document, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - of the file
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; raises ValueError for duplicate keys: one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found
