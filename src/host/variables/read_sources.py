"""Read the sources of variables of a run into its layers (SPEC 2.6, 3)."""

import posix

from host.variables.layers import SECRETS, Offers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from host.record_base import EnvSource


class SourceReader(Offers):
    """Reads the sources of one command into `layers`."""

    def read_all(self, sources: "Iterable[EnvSource]") -> None:
        """Add the variables of `sources` to `layers`, unless the command has `"sources": false`."""
        if not self.definition.reads_sources:
            return
        for source in sources:
            self.read(source)

    def read(self, source: "EnvSource") -> None:
        """Add a source's variables to `layers` if it serves the command. Raises SourceError."""
        if not source.serves(self.words):
            return
        if source.reader == "shell":
            self.read_settings(source)
        elif source.reader == "python":
            self.read_provider(source)
        elif source.reader == "envs":
            self.read_envs(source)
        elif source.files or self._has_env_files:
            from host.variables.dotenv import offer_env_files

            offer_env_files(self, source)

    @property
    def _has_env_files(self) -> bool:
        return any(level.env_files for level in self.definition.chain)

    def read_settings(self, source: "EnvSource") -> None:
        for path in source.files:
            try:
                posix.lstat(path)
            except FileNotFoundError:
                continue
            except OSError:
                pass  # for example, an unreadable folder: capture_settings reports the error
            from host.variables.settings import capture_settings

            before = self.here.environment()
            after = capture_settings(path, before)
            for name, value in after.items():
                # bash exports what it has inherited, too
                if before.get(name) != value:
                    self.offer(name, value.rstrip("\r"), source.rank, path)

    def read_provider(self, source: "EnvSource") -> None:
        from host.variables.provider import call_provider

        environ = self.here.environment()
        variables = call_provider(
            source.plugin, source.folders, source.provider, self.words, environ
        )
        origin = f"plugin {source.plugin}: {source.name}"
        for name, value in variables.items():
            self.offer(name, value, source.rank, origin)

    def read_envs(self, source: "EnvSource") -> None:
        for level in self.definition.chain:
            file = level.file or source.name
            for name, text in level.envs.items():
                key = f"envs.{name}"
                self.offer_text(name, text, source.rank, file, key)

    def read_secrets(self) -> None:
        """Add to `layers` the secrets that no other source sets.

        They are added as values or, without `resolves`, as references. Raises SourceError.
        """
        definition = self.definition
        values: dict[str, str] = {}  # by key; references until they are resolved
        for name, reference in definition.secrets.items():
            if self.layers.get(name) is None:
                values[f"secrets.{name}"] = reference
        if values and self.resolves:
            from host.variables.secret_references import resolve

            values = resolve(values, self, definition)

        for key, value in values.items():
            name = key.removeprefix("secrets.")
            self.offer(name, value, SECRETS, definition.file, key, secret=self.resolves)
