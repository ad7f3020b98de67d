"""The hook of plugin management: it reconciles `plugins/` with the registry."""

from builtin_plugins.administration.plugins.reconcile import reconcile_if_free
from host import Installation, hookimpl


@hookimpl
def prepare(installation: Installation) -> None:
    reconcile_if_free(installation.plugins_dir)
