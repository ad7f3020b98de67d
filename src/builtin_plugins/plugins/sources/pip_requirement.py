"""Parse the text after `pip:`: a requirement for the package index, or `NAME @ git+ADDRESS`."""

from typing import NamedTuple
from urllib.parse import unquote

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from builtin_plugins.library.addresses import without_credentials
from builtin_plugins.plugins.sources.git import git_address
from host import UsageError, masked_text


def parse_requirement(text: str) -> Requirement:
    """Return a requirement that names a distribution.

    Raises UsageError for any other text, such as an installer's option, a path or an address.
    """
    requirement = _requirement(text)
    if requirement is None or requirement.url:
        raise UsageError(
            f"{masked_text(text)}: not a requirement; expected a name such as acme-cli, "
            "acme-cli>=1.2, acme-cli[extra] or acme-cli @ git+https://…"
        )
    return requirement


def _requirement(text: str) -> Requirement | None:
    """Parse `text`; return None if it is not a requirement or has an environment marker."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    if requirement.marker:  # a plugin is for all systems of a team
        return None
    return requirement


def extras_of(requirement: Requirement) -> str:
    """Return the extras as they stand behind a name: `[http,keyring]`, or "" for none."""
    if not requirement.extras:
        return ""
    extras = ",".join(sorted(requirement.extras))
    return f"[{extras}]"


class PackageRepository(NamedTuple):
    """A package in a git repository, written as `NAME[EXTRAS] @ git+ADDRESS@REF`."""

    requirement: Requirement
    address: str
    ref: str

    @property
    def source(self) -> str:
        """Return the source as the registry stores it: normalized, without ref or credentials."""
        name = canonicalize_name(self.requirement.name)
        address = without_credentials(self.address)
        return f"{name}{extras_of(self.requirement)} @ git+{address}"


def parse_package_repository(text: str) -> PackageRepository | None:
    """Return the repository that `NAME @ git+ADDRESS` names, or None for any other text.

    As in pip's addresses, the ref follows the last `@` of the path; %-escapes in the ref are
    decoded. Raises UsageError for an address that git cannot fetch.
    """
    requirement = _requirement(text)
    if requirement is None:
        return None
    url = requirement.url
    if url is None or not url.startswith("git+"):
        return None

    scheme, _, rest = git_address(url).partition("://")
    host, slash, path = rest.partition("/")
    ref = ""
    is_valid = "#" not in path
    if "@" in path:
        before, _, ref = path.rpartition("@")
        path = before.replace("@", "%40")  # so that no other @ is taken for the mark
        if not ref:
            is_valid = False
    if not is_valid:
        raise UsageError(f"{masked_text(text)}: expected NAME @ git+ADDRESS[@REF]")

    address = f"{scheme}://{host}{slash}{path}"
    return PackageRepository(requirement, address, unquote(ref))
