"""An assistant's configuration file with one more server in it; all else stays as it is."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from typing import Any

from cli_host_mcp.clients import Client
from cli_host_mcp.problem import ConfigurationError

_INDENT = re.compile(r"\n([ \t]+)\"")


def edited(client: Client, text: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return the file's text with the entry `name`; the same text where it is there already.

    Raises ValueError, with what is wrong, where the text is not what the client reads, or
    has another server of that name.
    """
    servers = _servers(client, text)
    there = servers.get(name)
    if there == entry:
        return text
    if there is not None and (client.toml or there.get("command") != entry["command"]):
        raise ValueError(f"it has another server called {name}; choose a name: --name")
    if client.toml:
        return f"{text.rstrip()}\n\n{toml_entry(client, name, entry)}".lstrip("\n")
    document = _json(text)
    document.setdefault(client.key, {})[name] = dict(entry)
    indent = _INDENT.search(text)
    shown = json.dumps(document, indent=indent[1] if indent else 2, ensure_ascii=False)
    return shown + ("\n" if text.endswith("\n") or not text else "")


def toml_entry(client: Client, name: str, entry: Mapping[str, Any]) -> str:
    """Return an entry as TOML; a JSON string is a TOML one."""
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
    lines = [f"{one} = {json.dumps(value)}\n" for one, value in entry.items()]
    return f"[{client.key}.{key}]\n{''.join(lines)}"


def read(path: str) -> str:
    """Return the text of a configuration file, "" where there is none; raises OSError."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: not UTF-8; it was left as it is") from None


def write(path: str, text: str) -> None:
    """Put the text in the file's place at once, with its mode; a link stays one.

    Raises OSError; the old file is there then.
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


def _servers(client: Client, text: str) -> dict[str, Any]:
    document = tomllib.loads(text) if client.toml else _json(text)
    servers = document.get(client.key, {})
    if not isinstance(servers, dict):
        raise ValueError(f'"{client.key}": expected an object')  # noqa: TRY004 - of the file
    return {name: one if isinstance(one, dict) else {} for name, one in servers.items()}


def _json(text: str) -> dict[str, Any]:
    document = json.loads(text or "{}", object_pairs_hook=_once)
    if not isinstance(document, dict):
        raise ValueError("expected an object")  # noqa: TRY004 - of the file
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; one that says a key twice would lose something when written."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found
