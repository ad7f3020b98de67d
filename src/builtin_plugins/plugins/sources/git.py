"""Plugins from git repositories, which are fetched and written to files without a checkout.

Therefore no hook, template, filter, attribute or submodule of the repository has any effect.
"""

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from builtin_plugins.library.archive import AS_STORED, MOST_BYTES, MOST_FILES, extract
from builtin_plugins.library.git import Git
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.sources.base import (
    PluginSource,
)
from builtin_plugins.registry.entry import SUBDIRECTORY
from builtin_plugins.registry.version import PluginVersion
from host import OperationError, UsageError, masked_text

SHORT = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)+\Z")  # user/repository
# user@host:path, as scp writes it; only with a user may the path be absolute
_SCP = re.compile(
    r"(?:[A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9][\w.-]*:(?!/)[^:\s@/]+(?:/\S*)?\Z"
    r"|[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][\w.-]*:/(?!/)[^:\s@]*\Z"
)
_SCHEMES = ("https", "ssh", "git", "file")
_SITES = {
    "github": ("https://github.com/{}", "git@github.com:{}.git"),
    "gitlab": ("https://gitlab.com/{}", "git@gitlab.com:{}.git"),
    "bitbucket": ("https://bitbucket.org/{}", "git@bitbucket.org:{}.git"),
}
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SHA256_DIGITS = 64
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}\Z")
_POINTER = b"version https://git-lfs.github.com/spec/"
_MOST_POINTER_BYTES = 1024  # the limit of the specification of pointers
_ATTRIBUTES = (
    "* -export-ignore -export-subst -filter -text -ident -working-tree-encoding\n"
)


class GitSource(PluginSource):
    """A branch, tag or commit of a repository."""

    is_from_git = True
    has_subdirectories = True

    @staticmethod
    def address_of(text: str, site: str, *, ssh: bool) -> str:
        if "://" in text:
            return git_address(text)
        if SHORT.match(text):
            over_https, over_ssh = _SITES[site or "github"]
            form = over_ssh if ssh else over_https
            return form.format(text.removesuffix(".git"))

        # What else has these characters is a requirement, and ~ stands in both.
        plain = text.replace(":~/", ":", 1)
        if re.search(r"[<>=!~;\[]", plain):
            return ""
        if not _SCP.match(text):
            return ""
        return text

    @staticmethod
    def address_of_directory(path: str) -> str:
        # A bare repository; a checkout is the user's own directory.
        head = os.path.join(path, "HEAD")
        objects = os.path.join(path, "objects")
        if os.path.isfile(head) and os.path.isdir(objects):
            return f"file://{path}"
        return ""

    def fetch(self, change: Change) -> PluginVersion:
        entry = self.entry
        commit, is_pinned = fetch_commit(
            self.address,
            change,
            change.files,
            ref=entry.ref,
            commit=entry.commit,
            inside=self.subdirectory,
        )

        entry = entry.replaced(commit=commit, pinned=entry.pinned or is_pinned)
        return self.stage_contents(entry, change, change.files, entry.source)

    def package_source(self, name: str) -> str:
        address = GitSource.stored(self.address)
        if "://" not in address:  # user@host:path
            host, _, path = address.partition(":")
            address = f"ssh://{host}/{path.removeprefix('/')}"

        scheme, _, rest = address.partition("://")
        site, _, path = rest.partition("/")
        path = path.replace("@", "%40")  # the last @ of the path stands before the ref
        source = f"{name} @ git+{scheme}://{site}/{path}"
        if self.subdirectory:
            source += f"{SUBDIRECTORY}{self.subdirectory}"
        return source


def git_address(text: str) -> str:
    """Return the URL `text` without the prefix `git+`. Raises UsageError if git cannot fetch it."""
    address = text
    if text.lower().startswith("git+"):
        address = text[len("git+") :]

    scheme = address.partition("://")[0].lower()
    if scheme not in _SCHEMES:
        what = "use an https, ssh, git or file address"
        raise UsageError(f"{masked_text(address)}: {what}")
    return address


def fetch_commit(
    address: str, change: Change, target: str, *, ref: str, commit: str, inside: str
) -> tuple[str, bool]:
    """Write the files of a commit into the new directory `target`.

    The commit is `commit` or, if that is "", the commit of `ref`. Returns it, and whether `ref`
    pins it, as a tag or commit does but a branch does not. `address` may contain credentials, which
    git gets separately. Only the subdirectory `inside` of the files is used, or all if it is "".
    """
    directory = os.path.join(change.area, "objects.git")
    os.mkdir(directory)
    git = change.git(directory, address)

    bare_address = GitSource.stored(address)
    commit, is_pinned = _start(git, bare_address, ref, commit)
    commit = _fetch_objects(git, bare_address, commit)
    write_commit(git, commit, target, bare_address, change.messages.warn, inside)
    return commit, is_pinned


def read_file(git: Git, address: str, name: str) -> bytes:
    """Return the content of the file `name` in the newest commit of the repository at `address`.

    The directory of `git` must be empty; the commit is fetched into it.
    """
    newest, _ = _start(git, address)
    commit = _fetch_objects(git, address, newest)
    return git.contact(address, "cat-file", "blob", f"{commit}:{name}")


def _start(git: Git, address: str, ref: str = "", commit: str = "") -> tuple[str, bool]:
    """Make a bare repository for the commit; return the commit, and whether `ref` pins it.

    Without `commit`, it is the commit of `ref`.
    """
    git("init", "--quiet", "--bare", "--template=")
    is_pinned = False
    if not commit:
        commit, is_pinned = _resolve(git, address, ref)

    if len(commit) == _SHA256_DIGITS:
        # A repository has one kind of hash, which only the commit shows.
        shutil.rmtree(git.directory)
        os.mkdir(git.directory)
        git("init", "--quiet", "--bare", "--template=", "--object-format=sha256")
    return commit, is_pinned


def _resolve(git: Git, address: str, ref: str) -> tuple[str, bool]:
    """Return the commit of `ref`, and whether `ref` is a tag or commit.

    If `ref` is "", the commit is that of the default branch. An abbreviated commit is returned
    unchanged.
    """
    if _COMMIT.match(ref):
        return ref, True

    # The commit of an annotated tag has the longer name; the shorter one is that of the tag
    # itself.
    names = ["HEAD"]
    if ref.startswith("refs/"):
        names = [f"{ref}^{{}}", ref]
    elif ref:
        names = [f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}"]
    answer = git.contact(address, "ls-remote", "--", address, *names)
    commits = {}
    for line in answer.decode("utf-8", "replace").splitlines():
        commit, _, name = line.partition("\t")
        if _COMMIT.match(commit):
            commits[name] = commit

    for name in names:
        if name in commits:
            is_branch = name == "HEAD" or name.startswith("refs/heads/")
            return commits[name], not is_branch
    if _SHORT_COMMIT.match(ref):
        return ref, True
    if not ref:
        raise OperationError(f"{address}: has no commits")
    raise OperationError(f"{address}: there is no branch, tag or commit {ref}")


def _fetch_objects(git: Git, address: str, commit: str) -> str:
    """Fetch a commit; return its full hash.

    All branches and tags are fetched if the commit is abbreviated or cannot be fetched alone.
    """
    options = (
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
    )
    if _COMMIT.match(commit):
        with suppress(OperationError):  # a server may offer only branches and tags
            git.contact(address, "fetch", "--depth=1", *options, "--", address, commit)
            return commit

    branches = ("+refs/heads/*:refs/cli/heads/*", "+refs/tags/*:refs/cli/tags/*")
    git.contact(address, "fetch", *options, "--", address, *branches)

    name = f"{commit}^{{commit}}"
    try:
        full = git("rev-parse", "--verify", "--end-of-options", name)
    except OperationError:
        raise OperationError(f"{address}: there is no commit {commit}") from None
    return full.decode().strip()


def write_commit(
    git: Git,
    commit: str,
    target: str,
    called: str,
    on_warning: Callable[[str], object],
    inside: str = "",
) -> None:
    """Write the files of `commit` into the new directory `target`; folders of submodules are empty.

    `on_warning` is called for what is not fetched, if it is in the subdirectory `inside`.

    `git` runs in a bare repository that this program made; this function sets the repository's git
    attributes. The message of an OperationError begins with the repository's name `called`.
    """
    # These attributes come before those in the commit, which could leave out or change files.
    info = Path(git.directory, "info")
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text(_ATTRIBUTES, encoding="utf-8")

    packed = Path(git.directory, "files.tar")
    try:
        files = _list_files(git, commit)
        _check_size(files)
        for name in _submodules(files):
            if _is_inside(name, inside):
                text = f"{name} is a submodule; its content is not fetched"
                on_warning(f"{called}: {text}")
        git("archive", "--format=tar", f"--output={packed}", commit)
    except OperationError as failure:
        raise OperationError(f"{called}: {failure}") from None
    extract(packed, Path(target), called, AS_STORED)
    packed.unlink()

    for name in _large_file_pointers(target):
        if _is_inside(name, inside):
            text = f"{name} is a Git LFS pointer; its content is not fetched"
            on_warning(f"{called}: {text}")


def _is_inside(path: str, directory: str) -> bool:
    if directory in ("", path):
        return True
    return path.startswith(f"{directory}/")


def _large_file_pointers(root: str) -> list[str]:
    """Return the files that stand for content which only the extension Git LFS would fetch."""
    pointers = []
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.islink(path):
                continue
            if os.path.getsize(path) > _MOST_POINTER_BYTES:
                continue

            if Path(path).read_bytes().startswith(_POINTER):
                pointers.append(os.path.relpath(path, root))
    return sorted(pointers)


class _ListedFile(NamedTuple):
    """A line of `git ls-tree`; a submodule has the kind "commit" and the size 0."""

    name: str
    kind: str
    size: int


def _list_files(git: Git, commit: str) -> list[_ListedFile]:
    """Return all files and submodules of a commit."""
    output = git("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    *lines, _ = output.split(b"\0")  # a NUL ends each line

    files = []
    for line in lines:
        facts, _, name = line.partition(b"\t")
        _mode, kind, _object, size = facts.decode().split()
        bytes_of_file = 0
        # A submodule has "-", and a file that the repository lacks has "BAD".
        if size.isdigit():
            bytes_of_file = int(size)
        files.append(_ListedFile(os.fsdecode(name), kind, bytes_of_file))
    return files


def _check_size(files: Collection[_ListedFile]) -> None:
    """Raise OperationError if a commit has too many files or bytes.

    The check is necessary because a commit can refer to a few trees and blobs a million times.
    """
    if len(files) > MOST_FILES:
        raise OperationError(f"more than {MOST_FILES} files")
    if sum(file.size for file in files) > MOST_BYTES:
        raise OperationError(f"more than {MOST_BYTES} bytes unpacked")


def _submodules(files: Iterable[_ListedFile]) -> list[str]:
    return [file.name for file in files if file.kind == "commit"]
