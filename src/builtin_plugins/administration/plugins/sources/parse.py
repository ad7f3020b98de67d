"""What a user names as SOURCE → which kind of plugin it is and where it comes from."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from builtin_plugins.io.addresses import without_credentials
from builtin_plugins.plugins_folder.registry import Entry
from host import OperationError, UsageError, masked_text

ARCHIVES = (".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar", ".zip")
WHEEL = ".whl"
SITES = {
    "github": ("https://github.com/{}", "git@github.com:{}.git"),
    "gitlab": ("https://gitlab.com/{}", "git@gitlab.com:{}.git"),
    "bitbucket": ("https://bitbucket.org/{}", "git@bitbucket.org:{}.git"),
}

_SHORT = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)+\Z")
_SCP = re.compile(r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?!/)[^:\s@/]+(?:/\S*)?\Z")
_TRANSPORT = re.compile(r"[A-Za-z0-9+.-]*::")  # git starts a program of that name
_GIT_SCHEMES = ("https", "ssh", "git", "file")
_FETCHED = "only https, ssh, git and file are fetched with git"
# What `git check-ref-format` refuses, and what an option or a glob would be.
_NO_REF = re.compile(
    r"\A[-./]|[./]\Z|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|\A@\Z|.{201}"
)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class PackageRepository(NamedTuple):
    """What `NAME[EXTRAS] @ git+ADDRESS@REF#subdirectory=DIRECTORY` names."""

    requirement: Requirement
    address: str
    ref: str
    subdirectory: str

    @property
    def source(self) -> str:
        """Return it as the registry has it: without ref and credentials, always spelled alike."""
        name, extras = canonicalize_name(self.requirement.name), sorted(self.requirement.extras)
        more = f"[{','.join(extras)}]" if extras else ""
        inside = f"#subdirectory={quote(self.subdirectory)}" if self.subdirectory else ""
        return f"{name}{more} @ git+{without_credentials(self.address)}{inside}"

    def origin(self, commit: str) -> dict[str, Any]:
        """Return what PEP 610 records of a build from `commit`."""
        inside = {"subdirectory": self.subdirectory} if self.subdirectory else {}
        return {"url": self.address, "vcs_info": {"vcs": "git", "commit_id": commit}, **inside}


class Origin(NamedTuple):
    """Where a plugin comes from.

    `wanted` is its entry as far as that is known before it is fetched: commit, version and
    sha256 stand for what is asked for exactly, "" for the newest. `address` is what is
    fetched, which may hold credentials; `least` is the oldest version that will do.
    """

    wanted: Entry
    address: str
    least: str = ""


def parse_source(
    text: str, *, ref: str = "", sha256: str = "", site: str = "", ssh: bool = False
) -> Origin:
    """Return the origin that SOURCE and the options name.

    What it is, its form alone decides: no directory here can stand in for a repository or
    a package, nor the other way round. Raises UsageError for what cannot be a source,
    OperationError for what is not there.
    """
    if sha256 and not _SHA256.match(sha256.lower()):
        raise UsageError("--sha256: expected 64 hexadecimal digits")
    if not text or text.startswith("-"):
        raise UsageError(f"{masked_text(text) or 'an empty text'} cannot be a SOURCE")
    if (site or ssh) and not _SHORT.match(text):
        option = f"--{site}" if site else "--ssh"
        raise UsageError(f"{option} goes with user/repository; {masked_text(text)} is none")
    kind, address = _by_path(text) if _is_path(text) else _by_form(text, site, ssh)
    if package := parse_package_repository(address):
        ref = _one_ref(ref, package.ref)
    if _NO_REF.search(ref):
        raise UsageError(f"--ref {ref}: not a branch, tag or commit")
    wanted = Entry("", kind, _as_stored(address), ref=ref, sha256=sha256.lower())
    is_git = kind == "git" or wanted.from_repository
    if ref and not is_git:
        raise UsageError(f"--ref goes with a git repository; {wanted.source} is none")
    if sha256 and (is_git or kind == "local"):
        raise UsageError("--sha256 goes with an archive or a wheel", "git has --ref COMMIT")
    return Origin(wanted.replaced(pinned=_is_pinned(wanted), dev=kind == "local"), address)


def _one_ref(option: str, in_source: str) -> str:
    if option and in_source:
        raise UsageError(f"--ref {option}: the source names {in_source} already")
    return option or in_source


def _is_pinned(wanted: Entry) -> bool:
    """Tell whether only one version meets the source; a repository is asked for that."""
    if wanted.kind == "archive":
        return bool(wanted.sha256)
    if wanted.kind != "pip" or wanted.from_repository:
        return False
    return wanted.from_wheel or _is_exact(parse_requirement(wanted.source))


def of_entry(entry: Entry, *, exact: bool) -> Origin:
    """Return where an installed plugin came from, with `exact` at just what is recorded."""
    wanted = entry.replaced(source=_as_stored(entry.source))
    if exact:
        return Origin(wanted, entry.source)
    wanted = wanted.replaced(commit="", version="", sha256=entry.sha256 if entry.pinned else "")
    least = ""
    if not entry.pinned:
        with suppress(InvalidVersion):  # the newest with a wheel may be older than what is here
            least = Version(entry.version).public
    return Origin(wanted, entry.source, least)


def _as_stored(address: str) -> str:
    if package := parse_package_repository(address):
        return package.source
    return without_credentials(address) if "://" in address else address


def stored(entry: Entry) -> Entry:
    """Return an entry that somebody else may have written, its source checked and complete.

    That must be of the form that `add` stores for its kind. Raises UsageError or OperationError.
    """
    if entry.kind == "pip":
        entry = entry.replaced(source=entry.source or entry.name)
        if entry.from_repository:
            wanted = parse_source(f"pip:{entry.source}", ref=entry.ref).wanted
            return entry.replaced(source=wanted.source, ref=wanted.ref)
        if not entry.source.endswith(WHEEL) and "://" not in entry.source:
            parse_requirement(entry.source)
    elif entry.kind != "local":
        parsed = parse_source(entry.source, ref=entry.ref).wanted
        if parsed.kind != entry.kind:
            raise UsageError(f"{entry.name}: {parsed.source} is no source of kind {entry.kind}")
    return entry


def parse_requirement(text: str) -> Requirement:
    """Return a requirement of a distribution by its name; raises UsageError.

    What this takes can be no option of an installer, no path and no address.
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


def parse_package_repository(text: str) -> PackageRepository | None:
    """Return the repository that `NAME @ git+ADDRESS` names, None for any other text.

    As in pip's addresses, the ref is what follows the last `@` of the path; %-escapes in it are
    resolved. Raises UsageError for an address that is not fetched.
    """
    try:
        found = Requirement(text)
    except InvalidRequirement:
        return None
    if found.marker or not found.url or not found.url.startswith("git+"):
        return None
    address, _, fragment = found.url.removeprefix("git+").partition("#")
    scheme, found_scheme, rest = address.partition("://")
    if not found_scheme:
        raise UsageError(f"{masked_text(text)}: {_FETCHED}")
    host, slash, path = rest.partition("/")
    before, at, after = path.rpartition("@")
    if at and not after:
        raise UsageError(f"{masked_text(text)}: there is no branch, tag or commit after the @")
    path, ref = (before.replace("@", "%40"), unquote(after)) if at else (path, "")
    subdirectory = unquote(fragment.removeprefix("subdirectory="))
    parts = subdirectory.split("/")
    if fragment and (subdirectory == fragment or {"", ".", ".."} & {*parts}):
        raise UsageError(f"{masked_text(text)}: expected #subdirectory=DIRECTORY at its end")
    _, address = _by_scheme(f"git+{scheme}://{host}{slash}{path}")
    return PackageRepository(found, address, ref, subdirectory)


def repository_of(source: str) -> PackageRepository:
    """Return the repository of a package that is built from one; raises UsageError."""
    found = parse_package_repository(source)
    if found is None:
        raise UsageError(f"{masked_text(source)}: expected NAME @ git+https://…")
    return found


def _is_exact(requirement: Requirement) -> bool:
    """Tell whether only one version meets the requirement."""
    return any(
        one.operator in ("==", "===") and not one.version.endswith(".*")
        for one in requirement.specifier
    )


def _is_path(text: str) -> bool:
    if "://" in text or text.startswith("pip:"):
        return False
    named = text in (".", "..", "~") or text.startswith(("/", "./", "../", "~/"))
    return named or text.endswith("/") or text.lower().endswith((*ARCHIVES, WHEEL))


def _by_path(text: str) -> tuple[str, str]:
    """Return the kind of what is at a path, and its address."""
    path = os.path.abspath(text)
    if os.path.isdir(path):
        head, objects = os.path.join(path, "HEAD"), os.path.join(path, "objects")
        is_bare = os.path.isfile(head) and os.path.isdir(objects)
        return ("git", f"file://{path}") if is_bare else ("local", path)
    if not os.path.isfile(path):
        raise OperationError(f"{masked_text(text)}: no such file or directory")
    if path.endswith(WHEEL):
        return "pip", path
    if path.lower().endswith(ARCHIVES):
        return "archive", path
    raise UsageError(
        f"{masked_text(text)}: a file that is neither a wheel nor one of {' '.join(ARCHIVES)}"
    )


def _by_form(text: str, site: str, ssh: bool) -> tuple[str, str]:
    """Return the kind and the address that a text names which is no path."""
    if any(ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 for one in text):
        raise UsageError("SOURCE holds control characters")
    if _TRANSPORT.match(text):
        raise UsageError(f"{masked_text(text)}: {_FETCHED}")
    if text.startswith("pip:"):
        requirement = text.removeprefix("pip:").strip()
        if parse_package_repository(requirement) is None:
            parse_requirement(requirement)  # a wheel is named by its path or address alone
        return "pip", requirement
    if "://" in text:
        return _by_scheme(text)
    if _SHORT.match(text):
        address = SITES[site or "github"][1 if ssh else 0].format(text.removesuffix(".git"))
        if not site and not ssh and os.path.isdir(text):
            raise UsageError(
                f"{text}: there is a directory of that name here",
                f"write ./{text} to link it, or {address} for the repository",
            )
        return "git", address
    if _SCP.match(text) and not re.search(r"[<>=!~;\[]", text):
        return "git", text
    shown = masked_text(text)
    ways = f"write ./{shown} for a directory here"
    with suppress(UsageError):
        parse_requirement(text)
        ways = f"{ways}, or pip:{shown} for a package"
    raise UsageError(f"{shown}: neither a path nor a package", ways)


def _by_scheme(text: str) -> tuple[str, str]:
    is_git = text.lower().startswith("git+")
    address = text[len("git+") :] if is_git else text
    scheme = address.partition("://")[0].lower()
    stored = without_credentials(address)
    path = urlsplit(stored).path.lower()
    if scheme in ("https", "http") and not is_git:
        if path.endswith(WHEEL):
            return "pip", address
        if path.endswith(ARCHIVES):
            return "archive", address
    if scheme not in _GIT_SCHEMES:
        raise UsageError(f"{masked_text(address)}: {_FETCHED}")
    if urlsplit(stored).query != urlsplit(address).query:
        raise UsageError(
            f"{stored}: git takes no secret in a query", "write https://USER:TOKEN@HOST/…"
        )
    return "git", address
