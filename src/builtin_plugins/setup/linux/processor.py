"""Check that a program in an unpacked application is for this machine's processor."""

import os
import re
import sys
from collections.abc import Iterator

from builtin_plugins.setup import linux

_ELF = b"\x7fELF"
_MOST_READ = 64 * 1024  # bytes of a launcher that is a script
_WORD = re.compile(rb"[A-Za-z0-9_.+/-]+")
_BIG_ENDIAN = 2
# Names of processors by `e_machine` in the ELF header.
_NAMES = {
    3: "i386",
    8: "mips",
    21: "ppc64",
    22: "s390",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}
_ALSO_RUNS = {62: (3,), 183: (40,)}  # 32-bit programs that a 64-bit processor may run


def foreign_program(directory: str, launcher: str) -> str:
    """Return which program of an application is for another processor, or "".

    The programs are the launcher and, if that is a script, each program that it names. The result
    is a text such as "app/tool is for aarch64, and this machine is x86_64".
    """
    # Python's own file says which processor this machine has, also under an emulation.
    here = _machine(os.path.realpath(sys.executable))
    if here is None:
        return ""

    runs_here = (here, *_ALSO_RUNS.get(here, ()))
    for program in (launcher, *_named_programs(directory, launcher)):
        machine = _machine(os.path.join(directory, program))
        if machine is not None and machine not in runs_here:
            return (
                f"{program} is for {_name(machine)}, and this machine is {_name(here)}"
            )
    return ""


def _name(machine: int) -> str:
    return _NAMES.get(machine, f"processor {machine}")


def _machine(path: str) -> int | None:
    """Return `e_machine` of an ELF file, or None for any other file."""
    try:
        with open(path, "rb", buffering=0) as file:
            head = file.read(20)
    except OSError:
        return None
    if len(head) < 20 or not head.startswith(_ELF):
        return None

    if head[5] == _BIG_ENDIAN:
        return int.from_bytes(head[18:20], "big")
    return int.from_bytes(head[18:20], "little")


def _relative_paths(word: str) -> set[str]:
    """Return the relative paths that a word of a script may mean."""
    whole = word.strip("/")
    # The first part may be a variable: `exec "$HERE/app/tool"`.
    _, _, rest = whole.partition("/")
    return {whole, rest} - {""}


def _named_programs(directory: str, launcher: str) -> Iterator[str]:
    """Yield the files of the application that the text of a script names."""
    path = os.path.join(directory, launcher)
    with open(path, "rb", buffering=0) as file:
        text = file.read(_MOST_READ)
    if not text.startswith(b"#!"):
        return

    # A script names its programs relative to itself, or to the root of the application.
    root = os.path.realpath(directory)
    script = os.path.realpath(path)
    beside = os.path.dirname(script)
    for word in dict.fromkeys(_WORD.findall(text)):
        for name in _relative_paths(os.fsdecode(word)):
            for base in {beside, root}:
                path = os.path.normpath(os.path.join(base, name))
                if linux.is_file(directory, path):
                    yield os.path.relpath(path, root)
