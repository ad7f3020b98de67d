"""The three sources of SPEC 2.6: settings.conf, `env_files` and `envs`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from host import EnvSource, Installation, hookimpl

_ENVS, _SETTINGS, _ENV_FILES = 2, 3, 4  # their ranks


@hookimpl
def env_sources(installation: Installation) -> Iterator[EnvSource]:
    settings = os.path.join(installation.config_dir, "settings.conf")
    yield EnvSource("settings.conf", _SETTINGS, files=(settings,), reader="shell")
    yield EnvSource("env_files", _ENV_FILES, reader="env_files")
    yield EnvSource("envs", _ENVS, reader="envs")
