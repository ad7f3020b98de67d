"""One call of git: bounded, without prompts, with nothing of a foreign repository run."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Thread
from typing import NamedTuple
from urllib.parse import unquote

from builtin_plugins.fetch.addresses import parse
from host import OperationError, UsageError, masked_text

_KEPT_VARIABLES = frozenset(
    [
        *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_PROXY_COMMAND"),
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
        *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_NO_VERIFY", "GIT_SSL_CERT", "GIT_SSL_KEY"),
    ]
)
_OPTIONS = (
    *("-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never"),
    *("-c", "core.fsmonitor=false", "-c", "core.askPass=true"),
    *("-c", "credential.interactive=false"),
    *("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"),
    *("-c", "transfer.fsckObjects=true", "-c", "fetch.fsckObjects=true"),
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false"),
    *("-c", "core.bigFileThreshold=8m"),  # larger ones pass through git in pieces
)
_PACK_LIMIT = 1 << 30  # bytes of one file that git writes
_MEMORY_LIMIT = 2 << 30  # bytes of memory that git may fill
_ANSWER_LIMIT = 64 << 20  # bytes that a whole answer may have
_TOO_LONG = "git took too long; nothing was changed"
_UNREAD = "fatal: Could not read from remote repository"  # what ssh said of it stands before
_KEPT_WORDS = 4000  # bytes of what git said, for the error

# Run by git with `get`, `store` or `erase`; printf is a builtin, so no process gets its words.
_HELPER = (
    '!login() { test "$1" = get && '
    'printf "username=%s\\npassword=%s\\n" "$CLI_GIT_USER" "$CLI_GIT_PASSWORD"; }; login'
)


class Login(NamedTuple):
    """A user and a password for one site (scheme, host, port).

    git hands an address on to its children as an argument, and everybody on a machine can
    read those. So git gets the address without them, and asks this credential helper.
    """

    site: str
    user: str
    password: str

    @property
    def secret(self) -> str:
        """Return what must never be shown; a token may stand where the user does."""
        return self.password or self.user

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Return git's configuration: no helper but ours is asked, or told to store anything."""
        name = f"credential.{self.site}.helper"
        return (name, ""), (name, _HELPER)


def login_of(address: str) -> Login | None:
    """Return the login in an https address, the only kind in which git takes one."""
    found = parse(address)
    if found is None or not found.user or found.scheme != "https":
        return None
    login = Login(found.site, unquote(found.user), unquote(found.password))
    if not f"{login.user}{login.password}".isprintable():
        raise UsageError(f"{found.site}: the user or password for it holds control characters")
    return login


@dataclass
class Git:
    """git in one directory; `login` is what it may answer with when a server asks.

    `deadline` is a time of `time.monotonic`, `held` a descriptor that children keep
    open (it marks the staging area as in use).
    """

    directory: str
    environ: Mapping[str, str]
    deadline: float
    held: int | None = None
    login: Login | None = None

    def __call__(self, *arguments: str) -> bytes:
        """Return what `git ARGUMENTS` printed; raises OperationError when it fails or hangs."""
        called = f"git {arguments[0]}"
        # What git says goes to a file: who stays behind, as a shared connection of ssh does,
        # would keep a pipe open.
        with tempfile.TemporaryFile() as complaint:
            try:
                process = subprocess.Popen(
                    ["git", *_OPTIONS, *arguments],
                    cwd=self.directory,
                    env=self._environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=complaint,
                    start_new_session=True,  # no terminal to ask on, and one group to end
                    pass_fds=() if self.held is None else (self.held,),
                    preexec_fn=_bound,  # noqa: PLW1509 - no thread of ours lives then
                )
            except FileNotFoundError:
                hint = "install it, or add an archive"
                raise OperationError("git is not installed", hint) from None
            with process:
                try:
                    said = self._answer(process, called)
                finally:
                    if process.poll() is None:
                        os.killpg(process.pid, signal.SIGKILL)
            if process.returncode:
                complaint.seek(max(complaint.seek(0, os.SEEK_END) - _KEPT_WORDS, 0))
                reason = self._reason(complaint.read().decode("utf-8", "replace"))
                raise OperationError(f"{called}: {reason}")
        return said

    def _answer(self, process: subprocess.Popen[bytes], called: str) -> bytes:
        """Return what git prints until it ends.

        Raises OperationError when it takes too long or prints too much.
        """
        output, answer = process.stdout, list[bytes]()
        if output is None:
            raise AssertionError("it is a pipe")
        reader = Thread(target=lambda: answer.append(output.read(_ANSWER_LIMIT + 1)), daemon=True)
        reader.start()
        reader.join(max(self.deadline - time.monotonic(), 0))
        if not answer:
            raise OperationError(_TOO_LONG)
        if len(answer[0]) > _ANSWER_LIMIT:
            raise OperationError(f"{called}: more than {_ANSWER_LIMIT} bytes")
        try:
            process.wait(max(self.deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            raise OperationError(_TOO_LONG) from None
        return answer[0]

    def _reason(self, complaint: str) -> str:
        before, unread, _ = complaint.replace("\r", "\n").partition(_UNREAD)
        lines = [line.strip() for line in before.split("\n") if line.strip()]
        told = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR"))]
        last = lines[-1] if lines else (unread or "failed without a word")
        return self._clean(told[0] if told else last)

    def _clean(self, text: str) -> str:
        if self.login:
            text = text.replace(self.login.secret, "…")
        return masked_text(text[:_KEPT_WORDS])[:500]

    def _environment(self) -> dict[str, str]:
        found = {
            name: value
            for name, value in self.environ.items()
            if not name.startswith(("GIT_", "SSH_ASKPASS")) or name in _KEPT_VARIABLES
        }
        found |= {
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "https:ssh:git:file",
            "GIT_ASKPASS": "true",
            "SSH_ASKPASS_REQUIRE": "never",
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C",
        }
        settings: tuple[tuple[str, str], ...] = ()
        if self.login:
            settings = self.login.settings
            found |= {"CLI_GIT_USER": self.login.user, "CLI_GIT_PASSWORD": self.login.password}
        found["GIT_CONFIG_COUNT"] = str(len(settings))
        for index, (name, value) in enumerate(settings):
            found[f"GIT_CONFIG_KEY_{index}"] = name
            found[f"GIT_CONFIG_VALUE_{index}"] = value
        return found


def _bound() -> None:
    """Let neither a file that the child writes nor its memory grow without end."""
    for what, most in ((resource.RLIMIT_FSIZE, _PACK_LIMIT), (resource.RLIMIT_DATA, _MEMORY_LIMIT)):
        _, hard = resource.getrlimit(what)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (limit, hard))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
