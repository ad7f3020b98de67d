"""Archives of a small desktop application, good and bad."""

from __future__ import annotations

import io
import tarfile
import zipfile
from typing import NamedTuple

PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


class Member(NamedTuple):
    """A member as it is stored; `kind` is one of `tarfile`'s type bytes."""

    name: str
    content: bytes = b""
    mode: int = 0o644
    kind: bytes = tarfile.REGTYPE
    target: str = ""


def directory(name: str, mode: int = 0o755) -> Member:
    return Member(name, mode=mode, kind=tarfile.DIRTYPE)


def symlink(name: str, target: str) -> Member:
    return Member(name, kind=tarfile.SYMTYPE, target=target)


def tar(*members: Member, packing: str = "gz") -> bytes:
    """Return a .tar with these members; `packing` is gz, bz2, xz or "" for none."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=f"w:{packing}") as archive:  # type: ignore[call-overload]
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.mode, info.type, info.linkname = (
                member.mode,
                member.kind,
                member.target,
            )
            info.size = len(member.content)
            archive.addfile(info, io.BytesIO(member.content))
    return made.getvalue()


def zipped(*members: Member, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a .zip with these members, made as on Unix."""
    made = io.BytesIO()
    formats = {
        tarfile.DIRTYPE: 0o040000,
        tarfile.SYMTYPE: 0o120000,
        tarfile.REGTYPE: 0o100000,
    }
    with zipfile.ZipFile(made, "w", packing) as archive:
        for member in members:
            info = zipfile.ZipInfo(member.name)
            info.create_system = 3
            info.external_attr = (
                formats.get(member.kind, 0o010000) | member.mode
            ) << 16
            info.compress_type = packing
            archive.writestr(info, member.target.encode() or member.content)
    return made.getvalue()


def application(version: str, launcher: str = "Tool", top: str = "Tool") -> bytes:
    """Return an archive as vendors make them: one directory, a launcher that is a link."""
    script = f'#!/bin/sh\necho "$@" version {version} #\n# {version}\n'
    return tar(
        directory(top),
        Member(f"{top}/app/Tool", script.encode(), 0o755),
        symlink(f"{top}/{launcher}", "./app/Tool"),
        Member(f"{top}/app/resources/icon.png", PNG),
        Member(f"{top}/app/library.so", version.encode() * 100),
    )
