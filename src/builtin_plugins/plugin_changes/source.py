"""What a user names as SOURCE → which kind of plugin it is and where it comes from."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from builtin_plugins.fetch.addresses import without_credentials
from builtin_plugins.plugin_directories.registry import Entry
from host import OperationError, UsageError
from host.secrets import masked_text

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
# What `git check-ref-format` refuses, and what an option or a glob would be.
_NO_REF = re.compile(
    r"\A[-./]|[./]\Z|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|\A@\Z|.{201}"
)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from: `source` as it is stored, without credentials.

    `address` is what is fetched (it may hold credentials), `ref`, `sha256`, `commit`
    and `version` what is asked for exactly, "" for the newest; `least` is the oldest version.
    """

    kind: str
    source: str
    address: str = ""
    ref: str = ""
    sha256: str = ""
    commit: str = ""
    version: str = ""
    least: str = ""

    @property
    def suggested_name(self) -> str:
        """Return a plugin's name made of the source's last part."""
        last = re.split(r"[/:]", urlsplit(self.source).path.rstrip("/") or self.source)[-1]
        for suffix in (".git", *ARCHIVES):
            last = last.removesuffix(suffix)
        return re.sub(r"[^a-z0-9._-]+", "-", last.lower()).strip("._-")[:64]


def parse_source(
    text: str, *, ref: str = "", sha256: str = "", site: str = "", ssh: bool = False
) -> Origin:
    """Return the origin that SOURCE and the options name.

    What it is, its form alone decides: no directory here can stand in for a repository or
    a package, nor the other way round. Raises UsageError for what cannot be a source,
    OperationError for what is not there.
    """
    _check_options(ref, sha256)
    if not text or text.startswith("-"):
        raise UsageError(f"{masked_text(text) or 'an empty text'} cannot be a SOURCE")
    if (site or ssh) and not _SHORT.match(text):
        option = f"--{site}" if site else "--ssh"
        raise UsageError(f"{option} goes with user/repository; {masked_text(text)} is none")
    if _is_path(text):
        found = _by_path(text)
    else:
        _check_address(text)
        found = _by_scheme(text) or _by_short(text, site, ssh) or _by_form(text)
    if ref and found.kind != "git":
        raise UsageError(f"--ref goes with a git repository; {found.source} is none")
    if sha256 and found.kind in ("git", "local"):
        raise UsageError("--sha256 goes with an archive or a wheel", "git has --ref COMMIT")
    return replace(found, ref=ref, sha256=sha256.lower())


def of_entry(entry: Entry, *, exact: bool) -> Origin:
    """Return where an installed plugin came from, with `exact` at just what is recorded."""
    source = without_credentials(entry.source) if "://" in entry.source else entry.source
    found = Origin(entry.kind, source, entry.source, ref=entry.ref)
    if exact:
        return replace(found, sha256=entry.sha256, commit=entry.commit, version=entry.version)
    if entry.pinned:
        return replace(found, sha256=entry.sha256)
    with suppress(InvalidVersion):  # the newest that has a wheel may be older than what is here
        return replace(found, least=Version(entry.version).public)
    return found


def stored(entry: Entry) -> Entry:
    """Return an entry that somebody else may have written, its source checked and complete.

    That must be of the form that `add` stores for its kind. Raises UsageError or OperationError.
    """
    if entry.kind == "pip":
        entry = entry.replaced(source=entry.source or entry.name)
        if not entry.source.endswith(WHEEL) and "://" not in entry.source:
            parse_requirement(entry.source)
    elif entry.kind != "local":
        parsed = parse_source(entry.source, ref=entry.ref)
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
            "acme-cli>=1.2 or acme-cli[extra]"
        )
    return found


def is_exact(requirement: Requirement) -> bool:
    """Tell whether only one version meets the requirement."""
    return any(
        one.operator in ("==", "===") and not one.version.endswith(".*")
        for one in requirement.specifier
    )


def _check_options(ref: str, sha256: str) -> None:
    if _NO_REF.search(ref):
        raise UsageError(f"--ref {ref}: not a branch, tag or commit")
    if sha256 and not _SHA256.match(sha256.lower()):
        raise UsageError("--sha256: expected 64 hexadecimal digits")


def _check_address(text: str) -> None:
    if any(ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 for one in text):
        raise UsageError("SOURCE holds control characters")
    if _TRANSPORT.match(text):
        raise UsageError(f"{masked_text(text)}: only https, ssh, git and file are fetched with git")


def _is_path(text: str) -> bool:
    if "://" in text or text.startswith("pip:"):
        return False
    named = text in (".", "..", "~") or text.startswith(("/", "./", "../", "~/"))
    return named or text.endswith("/") or text.lower().endswith((*ARCHIVES, WHEEL))


def _by_short(text: str, site: str, ssh: bool) -> Origin | None:
    if not _SHORT.match(text):
        return None
    address = SITES[site or "github"][1 if ssh else 0].format(text.removesuffix(".git"))
    if not site and not ssh and os.path.isdir(text):
        raise UsageError(
            f"{text}: there is a directory of that name here",
            f"write ./{text} to link it, or {address} for the repository",
        )
    return Origin("git", address, address)


def _by_scheme(text: str) -> Origin | None:
    if text.startswith("pip:"):
        requirement = text.removeprefix("pip:").strip()
        parse_requirement(requirement)
        return Origin("pip", requirement)
    scheme, mark, _ = text.partition("://")
    if not mark:
        return None
    scheme = scheme.lower()
    is_git = scheme.startswith("git+")
    if is_git:
        text, scheme = text[4:], scheme[4:]
    stored = without_credentials(text)
    path = urlsplit(stored).path.lower()
    if scheme in ("https", "http") and not is_git:
        if path.endswith(WHEEL):
            return Origin("pip", stored, text)
        if path.endswith(ARCHIVES):
            return Origin("archive", stored, text)
    if scheme not in _GIT_SCHEMES:
        raise UsageError(f"{masked_text(text)}: only https, ssh, git and file are fetched with git")
    if urlsplit(stored).query != urlsplit(text).query:
        raise UsageError(
            f"{stored}: git takes no secret in a query", "write https://USER:TOKEN@HOST/…"
        )
    return Origin("git", stored, text)


def _by_path(text: str) -> Origin:
    path = os.path.abspath(text)
    if os.path.isdir(path):
        if os.path.isfile(os.path.join(path, "HEAD")) and os.path.isdir(
            os.path.join(path, "objects")
        ):
            return Origin("git", f"file://{path}", f"file://{path}")
        return Origin("local", path, path)
    if not os.path.isfile(path):
        raise OperationError(f"{masked_text(text)}: no such file or directory")
    if path.endswith(WHEEL):
        return Origin("pip", path, path)
    if path.lower().endswith(ARCHIVES):
        return Origin("archive", path, path)
    raise UsageError(
        f"{masked_text(text)}: a file that is neither a wheel nor one of {' '.join(ARCHIVES)}"
    )


def _by_form(text: str) -> Origin:
    """Return git's short form of ssh addresses; raises UsageError for a bare word."""
    if _SCP.match(text) and not re.search(r"[<>=!~;\[]", text):
        return Origin("git", text, text)
    shown = masked_text(text)
    ways = f"write ./{shown} for a directory here"
    with suppress(UsageError):
        parse_requirement(text)
        ways = f"{ways}, or pip:{shown} for a package"
    raise UsageError(f"{shown}: neither a path nor a package", ways)
