"""Catalogues: the lists of a team's plugins that cli.json names under "team"."""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import unquote

from builtin_plugins.library.addresses import bare_address
from builtin_plugins.library.files.atomic import make_directory, write_file
from builtin_plugins.library.git import Git, login_of
from builtin_plugins.plugins.sources.base import PluginSource
from builtin_plugins.plugins.sources.git import GitSource, read_file
from builtin_plugins.plugins.sources.parse import (
    is_path,
    other_forms,
    parse_source,
)
from builtin_plugins.registry.entry import is_plugin_name
from host import DefinitionError, OperationError, Problem, UsageError, masked_text
from host.errors import InstallationError
from host.files.json_file import Fields, parse_json
from host.files.paths import read_regular
from host.session.session import Session
from host.suggestions import closest

_NAME_IN_GIT = "catalogue.json"
_MOST_BYTES = 1 << 20


class ListedPlugin(NamedTuple):
    """A plugin in a catalogue."""

    name: str
    source: str
    ref: str
    sha256: str
    description: str
    owner: str

    def plugin_source(self, *, site: str, ssh: bool) -> PluginSource:
        """Return the plugin's source, at the version that the catalogue lists.

        Raises OperationError if the catalogue lists no version.
        """
        if self.ref or self.sha256:
            return parse_source(
                self.source, ref=self.ref, sha256=self.sha256, site=site, ssh=ssh
            )

        remedy = "add a ref or sha256"
        if self.owner:
            remedy = f"ask {self.owner} for a ref or sha256"
        source = masked_text(self.source)  # an address may contain a login
        raise OperationError(
            f"{self.name}: the catalogue lists neither a ref nor a sha256",
            f"{remedy}, or add the plugin from its source: {source}",
        )


def listed_plugin(session: Session, text: str, seconds: float) -> ListedPlugin | None:
    """Return the plugin that a catalogue lists under the name `text`.

    Returns None if `text` is another form of SOURCE, or if no catalogue is configured. Raises
    UsageError if none of the catalogues lists it.
    """
    if is_path(text):
        return None
    if not is_plugin_name(text):
        return None
    if not session.installation.config.catalogues:
        return None

    listed = fetch_catalogues(session, seconds)
    if text not in listed:
        command = f"{session.program} self plugin add"
        near = [f"{command} {name}" for name in closest(text, listed)]
        what = f"{text}: not in any catalogue; {other_forms(text)}"
        raise UsageError(what, suggestions=near)
    return listed[text]


def fetch_catalogues(session: Session, seconds: float) -> dict[str, ListedPlugin]:
    """Return the plugins of all catalogues by name, and cache the names for Tab completion.

    If two plugins have the same name, the first is used. Raises HostError if a catalogue cannot be
    read.
    """
    plugins: dict[str, ListedPlugin] = {}
    for address in session.installation.config.catalogues:
        called = bare_address(address)
        content = _checked_content(address, session, seconds)
        if len(content) > _MOST_BYTES:
            raise OperationError(f"{called}: larger than {_MOST_BYTES} bytes")

        listed, problems = parse_catalogue(called, content)
        session.messages.warn(*problems)
        for plugin in listed:
            plugins.setdefault(plugin.name, plugin)

    _cache_names(session.installation.cache_path("catalogue"), plugins.values())
    return plugins


def _checked_content(address: str, session: Session, seconds: float) -> bytes:
    """Return the content of a catalogue. Raises InstallationError for an invalid address."""
    try:
        with TemporaryDirectory() as area:
            return _fetch(address, area, session, seconds)
    except UsageError as failure:  # the address is wrong, not the command line
        file = session.layout.config_file
        problem = Problem(file, failure.what, key="team.catalogue")
        raise InstallationError(problem) from None


def _cache_names(path: str, plugins: Iterable[ListedPlugin]) -> None:
    """Write the names and descriptions of plugins to the cache file `path`."""
    names = []
    for plugin in plugins:
        names.append({"name": plugin.name, "description": plugin.description})
    with suppress(OSError):  # without the cached names, Tab offers no names
        make_directory(os.path.dirname(path), 0o700)
        write_file(path, json.dumps({"plugins": names}))


def parse_catalogue(
    path: str, content: bytes
) -> tuple[list[ListedPlugin], list[Problem]]:
    """Return the valid plugins of a catalogue, and the problems with the others.

    Raises DefinitionError if the file as a whole is invalid.
    """
    fields = Fields(path, parse_json(path, content))
    if fields.value("plugins") is None:
        raise fields.wrong("plugins", "an array of objects", None)

    listed = []
    problems = []
    for item in fields.objects("plugins"):
        try:
            listed.append(_parsed(item))
        except DefinitionError as error:
            problems.append(error.problem)
    return listed, problems


def _parsed(fields: Fields) -> ListedPlugin:
    name = fields.filled("name", required=True)
    if not is_plugin_name(name):
        what = "not a valid plugin name; use a-z, 0-9, ., _ and -"
        raise fields.refused("name", what)

    return ListedPlugin(
        name,
        fields.filled("source", required=True),
        ref=fields.text("ref"),
        sha256=fields.text("sha256"),
        description=fields.text("description"),
        owner=fields.text("owner"),
    )


def _fetch(address: str, area: str, session: Session, seconds: float) -> bytes:
    """Return the content of a catalogue; `area` is an empty directory for downloads."""
    scheme = address.partition("://")[0].lower()
    if address.endswith(".git"):
        scheme = "git"

    if scheme == "file":
        path = unquote(address[len("file://") :])
        try:
            return read_regular(path, OperationError, _MOST_BYTES)
        except FileNotFoundError:
            raise OperationError(f"{address}: no such file") from None

    if scheme in ("https", "http"):
        # Imported here because requests takes a tenth of a second to import.
        from builtin_plugins.library.download import download

        target = Path(area, "catalogue")
        download(address, target, seconds=seconds, size=_MOST_BYTES)
        return target.read_bytes()

    repository = GitSource.address_of(address, "", ssh=False)
    if not repository:
        raise UsageError(f"{bare_address(address)}: not an https, file or git address")
    git = Git(area, session.environ, seconds, login=login_of(repository))
    return read_file(git, GitSource.stored(repository), _NAME_IN_GIT)
