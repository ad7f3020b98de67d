"""`__main__` of the single file that release/zipapp writes: unpack the program once, and start it.

The program reads files beside its modules and starts processes of its own, so it cannot stay in an
archive. It is unpacked as a virtual environment in `${XDG_DATA_HOME:-~/.local/share}`, which also
runs the launchers that `self init` makes. So it is no cache: it must stay.
"""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - any Python may start this file
    sys.exit(
        f"{sys.argv[0]}: Python 3.11 or newer is needed; this is {sys.version.split()[0]}"
    )

import hashlib
import shutil
import stat
import tempfile
import zipfile

BUILD = ""  # release/zipapp writes the hash of all files here
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"

# The first word is the path of this file without `.pyz`; its base name is the program's name.
START = "import sys; from host.__main__ import main; sys.argv.pop(0); sys.exit(main())"


def main() -> None:
    archive = os.path.dirname(os.path.abspath(__file__))
    # outside a virtual environment, whose interpreter may be removed with it
    interpreter: str = getattr(sys, "_base_executable", "") or sys.executable
    programs = os.path.join(data_home(), "cli-host", "programs")
    identity = f"{BUILD}\0{interpreter}\0{PYTHON}"
    digest = hashlib.sha256(os.fsencode(identity)).hexdigest()
    environment = os.path.join(programs, digest[:16])

    try:
        if not os.path.isdir(environment):
            unpack(archive, interpreter, programs, environment)
        check_owner(environment)
    except OSError as failure:
        reason = failure.strerror or failure
        what = f"{programs}: the program cannot be unpacked: {reason}"
        remedy = "set XDG_DATA_HOME to a directory of your own"
        sys.exit(f"{os.path.basename(sys.argv[0])}: {what}; {remedy}")

    start(environment)


def data_home() -> str:
    """Return the user's directory for data. A relative XDG_DATA_HOME has no meaning."""
    named = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(named):
        return named
    return os.path.join(os.path.expanduser("~"), ".local", "share")


def check_owner(environment: str) -> None:
    """Raise OSError if somebody else could have written the program, or could exchange it.

    Whoever can write to a directory above it can rename what is in it, unless the directory is
    sticky, like /tmp. A link on the way has its own directories, so both paths are checked.
    """
    for start in (os.path.abspath(environment), os.path.realpath(environment)):
        path, above = "", start
        while path != above:
            path = above
            if can_change(path, sticky=path != start):
                raise PermissionError(f"{path}: other users can change this directory")
            above = os.path.dirname(path)


def can_change(directory: str, *, sticky: bool) -> bool:
    """Return whether other users can change what is in a directory.

    With `sticky`, they may add to it, but not rename the entries of others.
    """
    status = os.stat(directory)
    if status.st_uid not in (0, os.geteuid()):
        return True
    if sticky and status.st_mode & stat.S_ISVTX:
        return False
    # On many systems, each user has a group of the same number, which may write to the home.
    is_own_group = status.st_gid == os.getegid() == os.geteuid()
    others = stat.S_IWOTH if is_own_group else stat.S_IWOTH | stat.S_IWGRP
    return bool(status.st_mode & others)


def unpack(archive: str, interpreter: str, programs: str, environment: str) -> None:
    """Unpack the archive as a virtual environment, which appears under its name when it is whole.

    Another process may do the same at the same time; the first one wins.
    """
    umask = os.umask(0o077)
    try:
        os.makedirs(programs, exist_ok=True)
        part = tempfile.mkdtemp(prefix=".new-", dir=programs)
        try:
            extract(archive, part)
            make_environment(archive, interpreter, part)
            os.rename(part, environment)
        except OSError:
            if not os.path.isdir(environment):
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
    finally:
        os.umask(umask)


def extract(archive: str, directory: str) -> None:
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            path = packed.extract(entry, directory)
            # zipfile does not restore modes; scripts need the execute bit.
            mode = entry.external_attr >> 16
            if mode & 0o100:
                os.chmod(path, 0o700)


def make_environment(archive: str, interpreter: str, part: str) -> None:
    """Turn the unpacked files into what `python -m venv` makes, without pip."""
    library = os.path.join(part, "lib", PYTHON)
    packages = os.path.join(part, "site-packages")
    os.makedirs(library)
    os.rename(packages, os.path.join(library, "site-packages"))

    bin_dir = os.path.join(part, "bin")
    os.mkdir(bin_dir)
    for name in ("python", "python3"):
        os.symlink(interpreter, os.path.join(bin_dir, name))

    home = os.path.dirname(interpreter)
    settings = f"home = {home}\ninclude-system-site-packages = false\n"
    write(os.path.join(part, "pyvenv.cfg"), settings)

    # `self update` names the archive.
    write(os.path.join(part, "cli-host-archive"), f"{archive}\n")


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def start(environment: str) -> None:
    """Replace this process by the unpacked program, with its caller's environment and signals."""
    sys.path.insert(0, os.path.join(environment, "lib", PYTHON, "site-packages"))
    from host.caller import caller_environment
    from host.processes.process import restore_signals

    restore_signals()
    python = os.path.join(environment, "bin", "python")
    program = os.path.abspath(sys.argv[0]).removesuffix(".pyz")
    words = [python, "-I", "-c", START, program, *sys.argv[1:]]
    os.execve(python, words, caller_environment())


main()
