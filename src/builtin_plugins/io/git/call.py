"""One call of git: bounded, without prompts; nothing of a foreign repository is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from builtin_plugins.io.addresses import parse
from builtin_plugins.io.bounded_call import bounded_call
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
    *("-c", "fetch.recurseSubmodules=false", "-c", "submodule.recurse=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false"),
    *("-c", "core.bigFileThreshold=8m"),  # larger ones pass through git in pieces
)
_ANSWER_LIMIT = 64 << 20  # bytes that a whole answer may have
_UNREAD = "fatal: Could not read from remote repository"  # after the reason, in ssh's words
_KEPT_WORDS = 4000  # characters of git's message that are read for the error

# Run by git with `get`, `store` or `erase`; printf is a builtin, so no process gets its words.
_HELPER = (
    '!login() { test "$1" = get && '
    'printf "username=%s\\npassword=%s\\n" "$CLI_GIT_USER" "$CLI_GIT_PASSWORD"; }; login'
)


class Login(NamedTuple):
    """A user and a password for one site (scheme, host, port).

    git passes an address to its children as an argument, and every user of a machine can read
    those. So git gets the address without user and password, and asks this credential helper.
    """

    site: str
    user: str
    password: str

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options of git that make ours the only credential helper."""
        name = f"credential.{self.site}.helper"
        return ("-c", f"{name}=", "-c", f"{name}={_HELPER}")


def login_of(address: str) -> Login | None:
    """Return the login in an https address, the only kind in which git takes one."""
    found = parse(address)
    if found is None or not found.user or found.scheme != "https":
        return None
    login = Login(found.site, unquote(found.user), unquote(found.password))
    if not f"{login.user}{login.password}".isprintable():
        raise UsageError(f"{found.site}: the user or password for it holds control characters")
    return login


class GitTimeoutError(OperationError):
    """git did not finish in time; another way to ask would not, either."""


@dataclass
class Git:
    """git in one directory; `login` is for the server.

    A call takes `seconds` at most, and inherits the descriptors in `held` (one marks the stage as
    in use).
    """

    directory: str
    environ: Mapping[str, str]
    seconds: float
    held: tuple[int, ...] = ()
    login: Login | None = None

    def __call__(self, *arguments: str, given: bytes = b"") -> bytes:
        """Run `git ARGUMENTS` with the input `given`; return its output.

        Raises OperationError if it fails or hangs.
        """
        called = f"git {arguments[0]}"
        login = self.login.options if self.login else ()
        try:
            ended = bounded_call(
                ["git", *_OPTIONS, *login, *arguments],
                self._environment(),
                self.seconds,
                given=given,
                directory=self.directory,
                held=self.held,
                most=_ANSWER_LIMIT,
            )
        except FileNotFoundError:
            hint = "install it, or add an archive"
            raise OperationError("git is not installed", hint) from None
        except TimeoutError:
            raise GitTimeoutError("git took too long; nothing was changed") from None
        except OverflowError:
            raise OperationError(f"{called}: more than {_ANSWER_LIMIT} bytes") from None
        if ended.returncode:
            reason = self._reason(ended.stderr.decode("utf-8", "replace"))
            raise OperationError(f"{called}: {reason}")
        return ended.stdout

    def _reason(self, complaint: str) -> str:
        before, unread, _ = complaint.replace("\r", "\n").partition(_UNREAD)
        lines = [line.strip() for line in before.split("\n") if line.strip()]
        told = [line for line in lines if line.startswith(("fatal:", "error:", "ERROR"))]
        last = lines[-1] if lines else (unread or "failed without a word")
        return self._clean(told[0] if told else last)

    def _clean(self, text: str) -> str:
        if self.login:  # a token may stand where the user does
            text = text.replace(self.login.password or self.login.user, "…")
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
        if self.login:
            found |= {"CLI_GIT_USER": self.login.user, "CLI_GIT_PASSWORD": self.login.password}
        return found
