"""Requirements of Python packages: as SOURCE, and what this program itself needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from builtin_plugins.administration.program.environment.distributions import find_distribution
from builtin_plugins.administration.program.environment.installer import INSTALLERS
from host import PluginError, UsageError, masked_text
from host.hookspecs import OWN_DISTRIBUTION


def parse_requirement(text: str) -> Requirement:
    """Return a requirement of a distribution by its name; raises UsageError.

    What this accepts cannot be an option of an installer, a path or an address.
    """
    try:
        found = Requirement(text)
    except InvalidRequirement:
        found = None
    if found is None or found.url or found.marker:
        raise UsageError(
            f"{masked_text(text)}: no requirement; expected a name such as acme-cli, "
            "acme-cli>=1.2, acme-cli[extra] or acme-cli @ git+https://…"
        )
    return found


def is_exact(requirement: Requirement) -> bool:
    """Report whether only one version meets the requirement."""
    return any(
        one.operator in ("==", "===") and not one.version.endswith(".*")
        for one in requirement.specifier
    )


def needed(requires: Iterable[str], extras: Collection[str] = ()) -> Iterator[Requirement]:
    """Yield the requirements of a distribution that apply here, with these extras."""
    for one in map(Requirement, requires):
        if one.marker is None or any(one.marker.evaluate({"extra": x}) for x in ("", *extras)):
            yield one


def host_requirements(*more: str) -> dict[str, str]:
    """Return the installed distributions that this program and `more` need, with their versions."""
    found: dict[str, str] = {}
    pending: list[str] = [OWN_DISTRIBUTION, *more]
    while pending:
        name = canonicalize_name(pending.pop())
        if name in found:
            continue
        distribution = find_distribution(name)
        if distribution is None:
            continue
        found[name] = str(distribution.version)
        pending += [one.name for one in needed(distribution.requires or ())]
    return found


def protected() -> dict[str, str]:
    """Return the distributions that no plugin may replace, with their versions."""
    return host_requirements(*INSTALLERS)


def refuse_protected(name: str) -> None:
    """Raise PluginError for the name of a distribution that this program needs."""
    if canonicalize_name(name) in {*protected(), *INSTALLERS}:
        raise PluginError(f"{name}: this program itself needs it, so it can be no plugin")
