"""Turn the SOURCE that a user gives into a plugin source.

The form of SOURCE decides whether it is a path. What is at a path decides its kind.
"""

import os
import re
import shlex
from urllib.parse import urlsplit

from builtin_plugins.library.addresses import without_credentials
from builtin_plugins.plugins.sources.base import (
    PluginSource,
    make_source,
    source_class,
    split_extras,
)
from builtin_plugins.plugins.sources.git import SHORT
from builtin_plugins.registry.entry import KINDS, SUBDIRECTORY, Entry, is_source
from host import OperationError, UsageError, masked_text, printable

_SUBDIRECTORY = re.compile(
    r"(?!\.{1,2}(/|\Z))[\w@+. -]+(/(?!\.{1,2}(/|\Z))[\w@+. -]+)*\Z"
)
_REF = re.compile(r"(?:[^-\s]\S*)?\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


def parse_source(
    text: str, *, ref: str = "", sha256: str = "", site: str = "", ssh: bool = False
) -> PluginSource:
    """Return the source for SOURCE and the options; its entry has no name yet.

    Raises UsageError if SOURCE or an option is invalid, and OperationError if a file is missing.
    """
    sha256 = sha256.lower()
    if sha256 and not _SHA256.match(sha256):
        raise UsageError("--sha256: expected 64 hexadecimal digits")
    if not text or text.startswith("-"):
        raise UsageError("SOURCE must not be empty or begin with -")
    _check_site(text, site, ssh=ssh)

    # What SOURCE ends in: ./x.whl[extra], or URL#subdirectory=DIR
    text, mark, inside = text.partition(SUBDIRECTORY)
    text, extras = split_extras(text)
    if is_path(text):
        kind, address = _by_path(text)
    elif SHORT.match(text) and not (site or ssh) and os.path.isdir(text):
        address = source_class("git").address_of(text, site, ssh=ssh)
        what = f"{text} is a directory here, and may be a repository"
        raise UsageError(what, f"write ./{text}, or {address}")
    else:
        kind, address = _by_text(text, site, ssh=ssh)
    address = f"{address}{extras}{mark}{inside}"
    source = make_source(Entry("", kind, address, sha256=sha256))

    shown = masked_text(text)
    if mark:
        _check_subdirectory(source, shown, inside)
    is_of_package = kind == "pip" or source.entry.is_users_directory
    if extras and not is_of_package:
        raise UsageError(f"{shown}{extras}: only a package can have extras")
    stored = source.stored(source.address)  # raises UsageError for an invalid address
    if not is_source(kind, stored):
        raise UsageError(f"{shown}: not a valid SOURCE")
    ref = _checked_ref(source, ref)
    if sha256 and not source.has_checksum:
        what = "--sha256 can only be used with an archive or a wheel"
        raise UsageError(what, "for git, use --ref COMMIT")

    return source.replaced(
        ref=ref,
        dev=source.entry.is_users_directory,
        pinned=source.is_pinned,
    )


def _check_site(text: str, site: str, *, ssh: bool) -> None:
    """Raise UsageError if --ssh or the name of a site is used with another SOURCE than a/b."""
    if SHORT.match(text):
        return

    if site:
        option = f"--{site}"
    elif ssh:
        option = "--ssh"
    else:
        return

    what = f"{option} can only be used with user/repository"
    raise UsageError(f"{what}, not {masked_text(text)}")


def _check_subdirectory(source: PluginSource, shown: str, inside: str) -> None:
    """Raise UsageError if the source, shown as `shown`, cannot have the subdirectory `inside`."""
    if source.has_subdirectories and _SUBDIRECTORY.match(inside):
        return
    expected = "a directory in a git repository or archive, such as packages/acme"
    what = f"{shown}{SUBDIRECTORY}{printable(inside)}"
    raise UsageError(f"{what}: expected {expected}")


def _checked_ref(source: PluginSource, ref: str) -> str:
    """Return the ref of --ref or of the source's address, or "" for none. Raises UsageError."""
    inside = source.ref_in_address
    if ref and inside:
        raise UsageError(f"--ref {ref}: the source already names {inside}")

    if not ref:
        ref = inside
    if not _REF.match(ref):
        raise UsageError(f"--ref {ref}: not a valid branch, tag or commit")
    if ref and not source.is_from_git:
        what = "--ref can only be used with a git repository"
        raise UsageError(f"{what}, not {source.entry.source}")
    return ref


def _by_suffix(path: str) -> str:
    for kind in KINDS:
        if path.lower().endswith(source_class(kind).suffixes):
            return kind
    return ""


def _prefix(text: str) -> str:
    """Return the prefix in SOURCE that selects its kind, such as "pip:", or ""."""
    for kind in KINDS:
        prefix = source_class(kind).prefix
        if prefix and text.startswith(prefix):
            return prefix
    return ""


def is_path(text: str) -> bool:
    """Return whether SOURCE has the form of a path."""
    if "://" in text or _prefix(text):
        return False

    # Where a shell would see a path, too.
    if text in (".", "..", "~"):
        return True
    if text.startswith(("/", "./", "../", "~/")):
        return True
    # acme/ and acme.zip cannot be anything else.
    if text.endswith("/"):
        return True
    return _by_suffix(text) != ""


def _by_path(text: str) -> tuple[str, str]:
    """Return the kind and the address of the source at a path."""
    path = os.path.abspath(text)
    if os.path.isdir(path):
        for kind in KINDS:
            address = source_class(kind).address_of_directory(path)
            if address:
                return kind, address

    shown = masked_text(text)
    if not os.path.isfile(path):
        raise OperationError(f"{shown}: no such file or directory")
    kind = _by_suffix(path)
    if kind:
        return kind, path

    suffixes: list[str] = []
    for kind in KINDS:
        suffixes += source_class(kind).suffixes
    # It may be one script.
    folder = masked_text(os.path.join(os.path.dirname(text) or ".", ""))
    raise UsageError(
        f"{shown}: expected a directory, or a file that ends in {', '.join(suffixes)}",
        f"for a script, add its folder, {folder}, or copy it with: "
        f"self new command WORDS --from {shlex.quote(shown)}",
    )


def _by_text(text: str, site: str, *, ssh: bool) -> tuple[str, str]:
    """Return the kind and address of a source that is not a path; see `address_of` for `site`."""
    # Files are downloaded with these schemes only; any other address is for git.
    scheme = text.partition("://")[0].lower()
    if scheme in ("https", "http"):
        url = urlsplit(without_credentials(text))
        kind = _by_suffix(url.path)
        if kind:
            return kind, text

    prefix = _prefix(text)
    rest = text.removeprefix(prefix)
    for kind in KINDS:
        source = source_class(kind)
        if source.prefix != prefix:
            continue

        address = source.address_of(rest, site, ssh=ssh)
        if address:
            return kind, address
    raise UsageError(f"{masked_text(text)}: not a valid SOURCE", other_forms(text))


def other_forms(text: str) -> str:
    """Return a hint: the forms of SOURCE that the bare word `text` may stand for."""
    masked = masked_text(text)
    return f"write ./{masked} for a directory, or pip:{masked} for a package"
