"""A change of one plugin: the staging directory in which a version is fetched and built."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from builtin_plugins.library.git import Git, login_of
from builtin_plugins.library.versioned_directory import staging
from builtin_plugins.plugins.pip_or_uv import Installer
from builtin_plugins.registry.entry import FILES_DIR
from builtin_plugins.registry.registry import Registry, RegistryFile
from host import Messages
from host.session.session import Session


def _no_registry() -> Registry:
    return Registry(RegistryFile(""), RegistryFile(""))


@dataclass(frozen=True)
class Change:
    """One change to the session's installation, with a staging directory.

    `area` is a private directory on the file system of `plugins/`; it is removed when the change
    ends. `seconds` limits each download, git call or pip run. `registry` is the registry of the
    installation.
    """

    session: Session
    area: str
    seconds: float
    registry: Registry = field(default_factory=_no_registry)

    @property
    def messages(self) -> Messages:
        return self.session.messages

    @property
    def plugins_dir(self) -> str:
        return self.session.installation.plugins_dir

    @property
    def files(self) -> str:
        """Return the directory for the files of a new version."""
        return os.path.join(self.area, "version", FILES_DIR)

    @property
    def has_staged_version(self) -> bool:
        """Return whether a new version is staged; otherwise, `plugins/` has the version."""
        return os.path.isdir(self.files)

    @property
    def whole(self) -> str:
        """Return the directory for all files of a source, if only a part of them is staged."""
        return os.path.join(self.area, "whole")

    @property
    def built(self) -> str:
        """Return the directory for the plugin's own wheel, if it is a file or is built.

        The directory exists once the wheel has been fetched or its build has begun.
        """
        return os.path.join(self.area, "built")

    @property
    def installer(self) -> Installer:
        return Installer(self.session.environ, self.seconds, self.area)

    def git(self, directory: str, address: str = "") -> Git:
        """Return a `Git` for the repository in `directory`, with the login from `address`."""
        environ = self.session.environ
        return Git(directory, environ, self.seconds, login_of(address))


@contextmanager
def begin_change_in(
    session: Session, directory: str, seconds: float
) -> Iterator[Change]:
    """Yield a change that is staged in `directory`; lock nothing. Raises OSError."""
    with staging(directory) as area:
        os.mkdir(os.path.join(area, "version"))
        yield Change(session, area, seconds)
