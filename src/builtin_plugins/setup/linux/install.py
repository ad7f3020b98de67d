"""Install, upgrade and uninstall on Linux: preliminary checks, and use of sudo."""

from contextlib import suppress
from functools import partial
from tempfile import TemporaryDirectory

from builtin_plugins.io.addresses import fetchable
from builtin_plugins.io.progress import Reporter
from builtin_plugins.setup.linux import state, swap
from builtin_plugins.setup.linux.prepare import bring
from builtin_plugins.setup.tool_settings import Settings, variable
from host import OperationError


def installed_as(settings: Settings) -> str:
    """Return the command that is installed, "" for none.

    Removes leftovers of killed runs, if the caller has the rights.
    """
    places = settings.places
    with suppress(OSError, OperationError):
        if state.owns_directory(places):
            with state.store_of(places).locked(swap.BUSY):
                swap.clear(places)
    return places.link if state.is_installed(places) else ""


def install(settings: Settings, reporter: Reporter) -> str:
    """Install the latest version and return its command.

    If it raises OSError or OperationError, nothing has changed. Address, rights and foreign files
    are checked before the download. Everything before the swap runs with the caller's own rights.
    """
    places = settings.places
    try:
        fetchable(settings.values["DOWNLOAD_URL"])
    except OperationError as refusal:
        name = variable(settings.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None
    state.refuse_foreign(places)
    sudo = swap.find_sudo(places)
    if sudo is None:
        for problem in swap.install(places, partial(bring, settings, reporter)):
            reporter.warn(str(problem))
    else:
        # The caller prepares the files that root swaps in; /tmp is often too small for them.
        above = settings.environ.get("TMPDIR") or "/var/tmp"  # noqa: S108
        with TemporaryDirectory(prefix="cli-setup-", dir=above) as stage:
            swap.run_with_sudo(sudo, settings, reporter, bring(settings, reporter, stage))
    if places.bin_dir not in settings.environ.get("PATH", places.bin_dir).split(":"):
        reporter.warn(f"{places.bin_dir} is not on your PATH")
    return places.link


def uninstall(settings: Settings, reporter: Reporter) -> bool:
    """Remove application, link and menu entry that setup made; return whether there was one."""
    places = settings.places
    is_own = state.owners(places)
    for path in is_own:
        if is_own[path] is False:
            reporter.warn(f"{path} is kept: setup did not create it")
    if True in is_own.values():
        sudo = swap.find_sudo(places)
        if sudo is None:
            swap.uninstall(places)
        else:
            swap.run_with_sudo(sudo, settings, reporter, ())
    if state.is_installed(places):
        raise OperationError(f"{settings.name} is kept: setup did not install it")
    return True in is_own.values()
