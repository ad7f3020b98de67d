"""Call git with a time limit, without prompts, and without running a repository's code."""

import os
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from urllib.parse import unquote

from builtin_plugins.library.addresses import parse
from builtin_plugins.library.bounded_call import bounded_call
from host import OperationError, masked_text

_KEPT_VARIABLES = (  # prefixes of the GIT_ variables that are passed to git
    "GIT_SSH",
    "GIT_SSL_",
    "GIT_PROXY_",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_ASKPASS",
    "GIT_TERMINAL_PROMPT",
)
# The configuration of every call, with which git runs no code of a repository and never asks.
_CONFIGURATION = (
    "core.hooksPath=/dev/null",
    "safe.bareRepository=all",  # this program makes bare repositories of its own
    "protocol.ext.allow=never",
    "core.fsmonitor=false",
    "core.askPass=true",
    "credential.interactive=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=30",
    "transfer.fsckObjects=true",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.bigFileThreshold=8m",  # git streams larger blobs to save memory
)
_ANSWER_LIMIT = 64 << 20  # bytes of output
_LONGEST_REASON = 500  # characters in a message
_UPSTREAM = "--format=%(upstream:remotename) %(upstream:remoteref)"
# git prints this after ssh's error
_UNREAD = "fatal: Could not read from remote repository"


def login_of(address: str) -> dict[str, str]:
    """Return the variables that make git send the login of an https address.

    git passes addresses to its child processes as arguments, which every user of the machine can
    read. Therefore, git gets an address without user and password, and these variables set a header
    for the address's site.
    """
    parts = parse(address)
    if parts is None or parts.scheme != "https":
        return {}
    if not parts.user:
        return {}

    login = f"{unquote(parts.user)}:{unquote(parts.password)}"
    encoded = b64encode(login.encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": f"http.{parts.site}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {encoded}",
        # Another site would get the header, too.
        "GIT_CONFIG_KEY_1": "http.followRedirects",
        "GIT_CONFIG_VALUE_1": "false",
    }


def without_repository(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment for git without the variables that may name another repository."""
    kept = {}
    for name, value in environ.items():
        if not name.startswith("GIT_") or name.startswith(_KEPT_VARIABLES):
            kept[name] = value
    return kept


@dataclass
class Git:
    """A callable that runs git in `directory`.

    `login` has the environment variables from `login_of`, with which git logs in to a server. Each
    call may take at most `seconds`.
    """

    directory: str
    environ: Mapping[str, str]
    seconds: float
    login: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, given: bytes = b"") -> bytes:
        """Run `git ARGUMENTS` with the input `given`; return its output.

        Raises OperationError if git fails or takes too long.
        """
        called = f"git {arguments[0]}"
        command = ["git"]
        for setting in _CONFIGURATION:
            command += ["-c", setting]
        command += arguments

        try:
            ending = bounded_call(
                command,
                self._environment(),
                self.seconds,
                called,
                given=given,
                directory=self.directory,
                most=_ANSWER_LIMIT,
            )
        except FileNotFoundError:
            hint = "install git, or use an archive as the source"
            raise OperationError("git is not installed", hint) from None

        if ending.status:
            complaint = ending.stderr.decode("utf-8", "replace")
            reason = self._reason(complaint)
            raise OperationError(f"{called}: {reason}", _remedy_in(complaint))
        return ending.stdout

    def contact(self, address: str, *arguments: str) -> bytes:
        """Run a git command that contacts the server at `address`; errors name the address."""
        try:
            return self(*arguments)
        except OperationError as error:
            what = f"{masked_text(address)}: {error.what}"
            raise OperationError(what, error.remedy) from None

    def _reason(self, complaint: str) -> str:
        """Return the line of git's error output that says why it failed."""
        # ssh gives the reason before this line of git.
        text = complaint.replace("\r", "\n")
        before, unread, _ = text.partition(_UNREAD)
        lines = []
        for line in before.split("\n"):
            if line.strip():
                lines.append(line.strip())

        # A line of git says more than the last line, which may be a server's.
        reason = unread or "failed without a message"
        if lines:
            reason = lines[-1]
        for line in lines:
            if line.startswith(("fatal:", "error:", "ERROR")):
                reason = line
                break
        return masked_text(reason)[:_LONGEST_REASON]

    def _environment(self) -> dict[str, str]:
        """Return the environment of git: no variable of the caller makes it run or ask anything."""
        environ = without_repository(self.environ)
        environ.pop("SSH_ASKPASS", None)  # a program that asks for passwords
        return {
            **environ,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "https:ssh:git:file",
            "GIT_ASKPASS": "true",
            "SSH_ASKPASS_REQUIRE": "never",
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C",
            **self.login,
        }


def _remedy_in(complaint: str) -> str:
    """Return the command that git itself proposes, as for a repository of another owner, or ""."""
    for line in complaint.splitlines():
        if line.strip().startswith("git config --global --add "):
            return f"git proposes: {masked_text(line.strip())}"
    return ""


def newer_commit(git: Git) -> str:
    """Return the newest commit of the upstream branch, or "" if HEAD contains it; fetch nothing."""
    head = git("symbolic-ref", "HEAD").decode().strip()
    upstream = git("for-each-ref", _UPSTREAM, head).decode().strip()
    remote, _, branch = upstream.partition(" ")

    listed = git.contact(remote, "ls-remote", "--", remote, branch)
    commit, _, _ = listed.decode().partition("\t")
    if has_commit(git, commit):
        return ""
    return commit


def has_commit(git: Git, commit: str) -> bool:
    """Return whether HEAD contains a commit; False if the local repository lacks the commit."""
    try:
        git("merge-base", "--is-ancestor", commit, "HEAD")
    except OperationError:
        return False
    return True


def fetch_newest(git: Git) -> tuple[str, str, str]:
    """Fetch the upstream branch of a repository.

    Returns the remote's address without credentials, the commit of HEAD, and the newest commit,
    which may be HEAD.
    """
    address = masked_text(git("ls-remote", "--get-url").decode().strip())
    options = ("--quiet", "--no-tags", "--no-write-fetch-head")
    git.contact(address, "fetch", *options)
    old, new = git("rev-parse", "HEAD", "@{upstream}").decode().split()
    if has_commit(git, new):
        new = old
    return address, old, new


def check_fast_forward(
    git: Git, old: str, new: str, *, replaceable: Collection[str]
) -> None:
    """Raise OperationError if `new` does not descend from `old`, or would overwrite user files.

    The untracked files `replaceable` may be overwritten.
    """
    base = git("merge-base", old, new).decode().strip()
    if base != old:
        what = f"{git.directory}: has local commits, so it cannot be fast-forwarded"
        raise OperationError(what, "run: git pull --rebase")

    for path in _files_in_the_way(git, old, new):
        if path not in replaceable:
            text = f"{git.directory}: the update would replace your own {path}"
            raise OperationError(text, "move your file, or remove the team's")

    with suppress(OperationError):  # fails if files differ; read-tree checks them
        git("update-index", "-q", "--refresh")
    try:
        git("read-tree", "-n", "-m", "-u", old, new)
    except OperationError as failure:
        text = f"{git.directory}: {failure.problem.text}"
        raise OperationError(text, "commit the file or move it") from None


def _files_in_the_way(git: Git, old: str, new: str) -> Iterator[str]:
    """Yield the untracked files that a fast-forward to `new` would replace.

    git itself keeps only those that it does not ignore.
    """
    options = ("-r", "-z", "--name-only", "--no-renames", "--diff-filter=A")
    added = _names(git("diff-tree", *options, old, new))
    above = {str(directory) for path in added for directory in PurePath(path).parents}
    at = git.directory
    directories = [path for path in added if os.path.isdir(os.path.join(at, path))]
    below = tuple(f"{path}/" for path in directories)

    for path in sorted(_names(git("ls-files", "--others", "-z"))):
        untracked = path.rstrip("/")  # a repository of its own ends in /
        is_replaced = untracked in added or untracked in above
        if is_replaced or untracked.startswith(below):
            yield untracked


def _names(listed: bytes) -> set[str]:
    """Return the paths in git's output with -z."""
    return set(filter(None, os.fsdecode(listed).split("\0")))


def differing_paths(git: Git) -> list[str]:
    """Return the tracked files that differ from HEAD."""
    options = ("--no-ext-diff", "--no-renames", "--name-only", "-z")
    return os.fsdecode(git("diff", *options, "HEAD")).split("\0")[:-1]
