"""The three sources of variables (SPEC 2.6): settings.conf, `env_files` and `envs`."""

import os
from collections.abc import Iterator

from host import EnvSource, Installation, hookimpl


@hookimpl
def env_sources(installation: Installation) -> Iterator[EnvSource]:
    settings = os.path.join(installation.config_dir, "settings.conf")
    yield EnvSource("settings.conf", files=(settings,), reader="shell")
    yield EnvSource("env_files", reader="env_files")
    yield EnvSource("envs", reader="envs")
