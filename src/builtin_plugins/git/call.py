"""One call of git: bounded, without prompts, with nothing of a foreign repository run."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from builtin_plugins.git.login import Login
from host import OperationError
from host.secrets import masked_text

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
_STALL = 60.0  # seconds without a word from git
_UNREAD = "fatal: Could not read from remote repository"  # what ssh said of it stands before
_KEPT_WORDS = 4000  # characters of what git said, for the error

Say = Callable[[str], None]


@dataclass
class Git:
    """git in one directory; `login` is what it may answer with when a server asks.

    `deadline` is a time of `time.monotonic`, `held` a descriptor that children keep
    open (it marks the staging area as in use), `say` gets lines of progress.
    """

    directory: str
    environ: Mapping[str, str]
    deadline: float
    held: int | None = None
    login: Login | None = None
    say: Say | None = None

    def __call__(self, *arguments: str, stall: bool = False) -> bytes:
        """Return what `git ARGUMENTS` printed; raises OperationError when it fails or hangs."""
        try:
            process = subprocess.Popen(
                ["git", *_OPTIONS, *arguments],
                cwd=self.directory,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # no terminal to ask on, and one group to end
                pass_fds=() if self.held is None else (self.held,),
                preexec_fn=_bound,  # noqa: PLW1509 - no thread of ours lives then
            )
        except FileNotFoundError:
            raise OperationError("git is not installed", "install it, or add an archive") from None
        called = f"git {arguments[0]}"
        with process:
            try:
                said, complaint = self._watched(process, called, stall)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            raise OperationError(f"{called}: {self._reason(complaint)}")
        return said

    def _watched(
        self, process: subprocess.Popen[bytes], called: str, stall: bool
    ) -> tuple[bytes, str]:
        """Return what git prints until it ends, and its complaint.

        Raises OperationError when it takes too long or prints too much.
        """
        if process.stdout is None or process.stderr is None:
            raise AssertionError("both are pipes")
        out, err = process.stdout.fileno(), process.stderr.fileno()
        said, complaint = bytearray(), ""
        reading = {out, err}
        heard = time.monotonic()
        while reading:
            until = min(self.deadline, heard + _STALL) if stall else self.deadline
            left = until - time.monotonic()
            ready, _, _ = select.select(reading, [], [], max(left, 0))
            if not ready or left < 0:
                raise OperationError("git took too long; nothing was changed")
            for descriptor in ready:
                chunk = os.read(descriptor, 1 << 16)
                heard = time.monotonic()
                if not chunk:
                    reading.discard(descriptor)
                elif descriptor == err:
                    complaint = self._heard(complaint, chunk)
                else:
                    said += chunk
                    if len(said) > _ANSWER_LIMIT:
                        raise OperationError(f"{called}: more than {_ANSWER_LIMIT} bytes")
        try:
            process.wait(max(self.deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            raise OperationError("git took too long; nothing was changed") from None
        return bytes(said), complaint

    def _heard(self, before: str, chunk: bytes) -> str:
        text = chunk.decode("utf-8", "replace")
        if self.say is not None:
            for line in text.replace("\r", "\n").split("\n"):
                if line.strip():
                    self.say(self._clean(line.strip()))
        return (before + text)[-_KEPT_WORDS:]

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
        settings = self.login.settings if self.login else ()
        found |= self.login.variables if self.login else {}
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
