"""Which files can be commands, and by which words."""

import _stat
import posix

from host.files.paths import realpath
from host.words import is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


# extensions of scripts, in order of precedence
EXTENSIONS = (
    *("", ".awk", ".bash", ".fish", ".js", ".lua", ".mjs"),
    *(".php", ".pl", ".py", ".rb", ".sh", ".ts", ".zsh"),
)
# documents, data and tests are not scripts, even if they are executable
_NO_SCRIPTS = (
    *(".md", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".ini"),
    *(".conf", ".env", ".lock", ".log"),
    ".bats",  # the tests of a script, beside it
)
# commands only with a shebang
_NOT_FOR_BASH = (".ps1", ".bat", ".cmd", ".swift", ".applescript")


def script_word(name: str) -> str:
    """Return the word of a script from its file name, or "" if the file cannot be a script."""
    if name.startswith((".", "_")) or name.endswith(_NO_SCRIPTS):
        return ""
    stem, dot, extension = name.rpartition(".")
    if stem and f"{dot}{extension}" in EXTENSIONS:
        return stem
    return name


def words_of_script(name: str, scripts: "Mapping[str, str]") -> list[str]:
    """Return the words of a script from its file name, or [] if the name is invalid.

    `scripts` may have "prefix", which is removed from names, and "split", which separates words.
    """
    word = script_word(name)
    prefix = scripts.get("prefix", "")
    if not word.startswith(prefix):
        return []

    words = [word.removeprefix(prefix)]
    separator = scripts.get("split", "")
    if separator:
        words = words[0].split(separator)
    return words if all(map(is_word, words)) else []


def refusal(path: str, root: str) -> str:
    """Return the reason why a file in the tree at `root` cannot be a command, or "" if it can.

    `root` is `FolderNode.base`.
    """
    try:
        mode = posix.lstat(path).st_mode
        if _stat.S_ISLNK(mode):
            target = realpath(path)
            if not target.startswith(f"{realpath(root)}/"):
                return f"it links to {target}, which is outside this tree"
            mode = posix.stat(path).st_mode
        if not _stat.S_ISREG(mode):
            return "it is not a regular file"

        is_executable = mode & 0o111 != 0
        if is_executable and not path.endswith(_NOT_FOR_BASH):
            return ""
        with open(path, "rb", buffering=0) as file:
            has_shebang = file.read(2) == b"#!"
    except (OSError, ValueError) as failure:
        return getattr(failure, "strerror", None) or str(failure)

    reason = ""
    if not has_shebang:
        reason = "it is not executable and has no shebang"
        if is_executable:
            reason = "bash cannot run a file of this type, and it has no shebang"
    return reason


def existing(stem: str) -> "Iterable[str]":
    """Yield each existing path made of `stem` and a script extension, in order of precedence."""
    for extension in EXTENSIONS:
        path = stem + extension
        # most paths are missing; with an exception for each, `stat` would take twice as long
        if posix.access(path, posix.F_OK):
            yield path
