"""Unpacking archives that mean well, and archives that do not."""

from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import sys
import tarfile
import time
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builtin_plugins.library import archive as archives
from builtin_plugins.library.archive import (
    AS_STORED,
    UnpackOptions,
    checked_members,
    extract,
)
from host.errors import OperationError
from host.messages import Messages
from testing.applications import Member, directory, symlink, tar, zipped
from testing.machine import needs

USUAL = UnpackOptions(members=100_000)


def unpack(tmp_path: Path, content: bytes, rules: UnpackOptions = USUAL) -> Path:
    archive, target = tmp_path / "archive", tmp_path / "inner" / "target"
    archive.write_bytes(content)
    target.parent.mkdir(exist_ok=True)
    extract(archive, target, "archive", rules)
    return target


def listed(target: Path) -> dict[str, str]:
    return {
        str(path.relative_to(target)): path.read_text()
        for path in sorted(target.rglob("*"))
        if path.is_file()
    }


APPLICATION = (
    directory("App"),
    Member("App/run", b"run", 0o755),
    Member("App/deep/down/file", b"file"),
    symlink("App/link", "deep/down/file"),
    symlink("App/chain", "link"),
    symlink("App/deep/up", "../run"),
)
EXPECTED = {
    "run": "run",
    "deep/down/file": "file",
    "link": "file",
    "chain": "file",
    "deep/up": "run",
}


@pytest.mark.parametrize(
    "packing", ["gz", "bz2", "xz", ""], ids=["gz", "bz2", "xz", "plain"]
)
def test_a_tar_unpacks_without_its_leading_directory(
    packing: str, tmp_path: Path
) -> None:
    assert listed(unpack(tmp_path, tar(*APPLICATION, packing=packing))) == EXPECTED


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_a_zip_unpacks_the_same(packing: int, tmp_path: Path) -> None:
    target = unpack(tmp_path, zipped(*APPLICATION, packing=packing))
    assert listed(target) == EXPECTED
    assert stat.S_IMODE((target / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((target / "deep/down/file").stat().st_mode) == 0o644


def test_modes_are_plain_whatever_umask_and_archive_say(tmp_path: Path) -> None:
    former = os.umask(0o077)
    try:
        target = unpack(
            tmp_path,
            tar(
                directory("App", 0o700),
                Member("App/setuid", b"x", 0o6711),
                Member("App/writable", b"x", 0o666),
            ),
        )
    finally:
        os.umask(former)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in target.iterdir()}
    assert modes == {"setuid": 0o755, "writable": 0o644}
    assert stat.S_IMODE(target.stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ((Member("./App/file", b"x"), directory("./"), directory("./App")), ["file"]),
        ((Member("file", b"x"), Member("App/other", b"x")), ["App/other", "file"]),
        ((Member("only", b"x"),), ["only"]),
        ((Member("App//file", b"x"),), ["file"]),
    ],
    ids=["dot names", "no common directory", "a single file", "doubled slash"],
)
def test_only_one_common_directory_is_stripped(
    members: tuple[Member, ...], expected: list[str], tmp_path: Path
) -> None:
    assert list(listed(unpack(tmp_path, tar(*members)))) == expected


def test_stripping_is_optional(tmp_path: Path) -> None:
    target = unpack(tmp_path, tar(Member("App/file", b"x")), AS_STORED)
    assert list(listed(target)) == ["App/file"]


FILE = Member("App/file", b"x")
LONG = "d" * 200
# The shape of CVE-2025-4517: so deep a chain that `realpath` gives up before the ".." counts.
DEEP_CHAIN = (
    *(symlink("/".join(["App", *["a"] * n, "b"]), LONG) for n in range(16)),
    *(directory("/".join(["App", *["a"] * n, LONG])) for n in range(16)),
    symlink("App/escape", "b/" * 16 + "../" * 20 + "etc"),
    Member("App/escape/evil", b"x"),
)
BAD_MEMBERS = {
    "parent": ((Member("../evil"), FILE), "points outside the archive"),
    "parent inside": (
        (Member("App/a/../../../evil"), FILE),
        "points outside the archive",
    ),
    "absolute": ((Member("/evil"), FILE), "points outside the archive"),
    "newline": ((Member("App/a\nb"), FILE), "control characters"),
    "escape": ((Member("App/\x1b[31m"), FILE), "control characters"),
    "link out": (
        (symlink("App/link", "../../etc"), FILE),
        "outside the archive",
    ),
    "link above the stripped": (
        (symlink("App/link", "../file"), FILE),
        "outside the archive",
    ),
    "link absolute": (
        (symlink("App/link", "/etc/passwd"), FILE),
        "outside the archive",
    ),
    "link to nothing": (
        (symlink("App/link", "absent"), FILE),
        "is a link to a file that",
    ),
    "link through a file": (
        (symlink("App/link", "file/x"), FILE),
        "is a link to a file that",
    ),
    "link loop": (
        (symlink("App/a", "b"), symlink("App/b", "a"), FILE),
        "is a link to a file that",
    ),
    "link to itself": ((symlink("App/a", "a"), FILE), "is a link to a file that"),
    "chain out": (
        (
            directory("App/d"),
            symlink("App/a", "d"),
            symlink("App/b", "a/../../x"),
            FILE,
        ),
        "outside the archive",
    ),
    "file through a link": (
        (symlink("App/a", "b"), directory("App/b"), Member("App/a/evil"), FILE),
        "a parent that is not a directory",
    ),
    "file through a later link": (
        (Member("App/a/evil"), symlink("App/a", "."), FILE),
        "occurs twice",
    ),
    "deep chain": (DEEP_CHAIN, "too long|no directory|outside the archive|twice"),
    "hard link": (
        (FILE, Member("App/hard", kind=tarfile.LNKTYPE, target="App/file")),
        "is not a file, a directory or a symbolic link",
    ),
    "device": (
        (Member("App/dev", kind=tarfile.CHRTYPE), FILE),
        "is not a file, a directory or",
    ),
    "fifo": (
        (Member("App/fifo", kind=tarfile.FIFOTYPE), FILE),
        "is not a file, a directory or",
    ),
    "twice": ((FILE, FILE), "occurs twice"),
    "twice by another spelling": ((FILE, Member("App/./file")), "occurs twice"),
    "file and directory": (
        (FILE, directory("App/file")),
        "not a directory|occurs twice",
    ),
    "file below a file": ((FILE, Member("App/file/x")), "not a directory"),
    "no name": ((Member("./"), FILE), "has no name|no directory"),
    "long name": ((Member("App/" + "x" * 256), FILE), "too long"),
    "too deep": ((Member("App/" + "x/" * 520 + "y"), FILE), "too long"),
    "nothing": ((directory("App"),), "the archive contains no files"),
}


@pytest.mark.parametrize("name", BAD_MEMBERS)
def test_a_bad_member_is_refused_before_anything_is_written(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    members, expected = BAD_MEMBERS[name]
    with pytest.raises(OperationError, match=expected) as failure:
        unpack(tmp_path, tar(*members))
    Messages("cli", {}).error(str(failure.value))
    assert capfd.readouterr().err.removesuffix("\n").isprintable()
    assert list((tmp_path / "inner").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "inner"]


ZIP_SAME = [
    "parent",
    "absolute",
    "newline",
    "link out",
    "link absolute",
    "link loop",
    "twice",
]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ZIP_SAME)
def test_a_zip_is_judged_the_same(name: str, tmp_path: Path) -> None:
    members, expected = BAD_MEMBERS[name]
    with pytest.raises(OperationError, match=expected):
        unpack(tmp_path, zipped(*members))
    assert list((tmp_path / "inner").iterdir()) == []


def test_counts_and_sizes_are_capped(tmp_path: Path) -> None:
    many = tar(*(Member(f"App/{number}") for number in range(20)))
    with pytest.raises(OperationError, match=r"more than 10 members"):
        unpack(tmp_path, many, UnpackOptions(members=10))
    with pytest.raises(OperationError, match=r"more than 100 bytes"):
        unpack(tmp_path, tar(Member("App/x", b"x" * 101)), UnpackOptions(size=100))


@pytest.mark.slow
@pytest.mark.night
def test_directories_that_names_imply_are_counted(tmp_path: Path) -> None:
    """2,001 members of one deep name each made 124,002 directories."""
    deep = tar(*(Member(f"App/{number}/" + "d/" * 60 + "x") for number in range(2001)))
    for rules in (USUAL, UnpackOptions(members=20_000)):
        with pytest.raises(OperationError, match=r"more than (20000|100000) members"):
            unpack(tmp_path, deep, rules)
    small = tar(*(Member(f"App/{number}/a/b/c") for number in range(5)))
    with pytest.raises(OperationError, match=r"more than 20 members"):
        unpack(tmp_path, small, UnpackOptions(members=20))
    assert len(listed(unpack(tmp_path, small, UnpackOptions(members=21)))) == 5


def test_unpacking_stands_under_a_deadline(tmp_path: Path) -> None:
    for content in (tar(FILE), zipped(FILE)):
        (tmp_path / "archive").write_bytes(content)
        with pytest.raises(OperationError, match=r"archive: unpacking takes too long"):
            extract(
                tmp_path / "archive", tmp_path / "target", "archive", USUAL, seconds=0
            )
        assert not (tmp_path / "target").exists()


def _headed(kind: bytes, content: bytes) -> bytes:
    """Return a tar whose one file has an extended header with this content."""
    head = tarfile.TarInfo("././@PaxHeader")
    head.type, head.size = kind, len(content)
    padded = content + bytes(-len(content) % 512)
    file = tar(FILE, packing="")
    return gzip.compress(head.tobuf(tarfile.USTAR_FORMAT) + padded + file, 1)


def _record(length: int) -> bytes:
    """Return one record of a pax header, of about `length` digits."""
    value = b"1" * length
    return next(
        record
        for size in range(length, length + 30)
        if len(record := b"%d comment=%s\n" % (size, value)) == size
    )


# The time limit does not interrupt a regular expression: what one takes long for is shorter.
HEADERS = {
    "digits": (b"x", lambda length: b"1" * (length // 3)),
    "digits for all": (b"g", lambda length: b"1" * (length // 3)),
    "records without an end": (b"x", lambda length: b"3 x" * (length // 3) + b"="),
    "records of nothing": (b"x", lambda length: b"0 a=\n" * (length // 5)),
    "small records": (b"x", lambda length: b"6 a=b\n" * (length // 6)),
    "a value of digits": (b"x", lambda length: _record(length // 3)),
    "blanks": (b"x", lambda length: b" " * length),
    "sparse": (b"x", lambda length: b"22 GNU.sparse.major=1\n" * (length // 22)),
    "a long name": (b"L", lambda length: b"a/" * (length // 2)),
    "a long target": (b"K", lambda length: b"1" * length),
}


@pytest.mark.night
@pytest.mark.parametrize("name", HEADERS)
def test_a_slow_header_costs_the_time_limit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 takes the square of a header's length; half a second stands for twenty."""
    monkeypatch.setattr(archives, "_VALIDATION_SECONDS", 0.5)
    kind, make = HEADERS[name]
    (tmp_path / "archive").write_bytes(_headed(kind, make(250_000)))
    started = time.monotonic()
    with suppress(OperationError):
        extract(tmp_path / "archive", tmp_path / "target", "archive", USUAL)
    assert time.monotonic() - started < 40  # a busy machine included


@pytest.mark.night
def test_links_that_lead_along_all_ways_are_refused_soon(tmp_path: Path) -> None:
    ways = [symlink(f"App/l{n}", "d/../" * 190 + f"l{n + 1}") for n in range(2000)]
    # A busy machine takes the time limit instead.
    refusal = r"is a link to a file that|unpacking takes too long"
    with pytest.raises(OperationError, match=refusal):
        unpack(tmp_path, tar(*ways, directory("App/d"), Member("App/l2000", b"x")))


def test_a_chain_of_links_is_as_long_as_the_kernel_allows(tmp_path: Path) -> None:
    most = 40  # Linux follows so many, macOS 32

    def chain(length: int) -> bytes:
        links = [symlink(f"App/l{n}", f"l{n + 1}") for n in range(length)]
        return tar(*links, Member(f"App/l{length}", b"end"))

    longest = tmp_path / "longest"
    longest.mkdir()
    target = unpack(longest, chain(most))
    if sys.platform == "linux":
        assert (target / "l0").read_bytes() == b"end"
    with pytest.raises(OperationError, match="is a link to a file that"):
        unpack(tmp_path, chain(most + 1))


@pytest.mark.parametrize("form", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_what_the_systems_tar_makes_is_read(form: str, tmp_path: Path) -> None:
    needs("tar")
    source = tmp_path / "App"
    (source / "deep" / ("d" * 60)).mkdir(parents=True)
    (source / "deep" / ("d" * 60) / "f\xfc").write_text("file")
    (source / "link").symlink_to("deep")
    if form not in ("v7", "ustar"):
        (source / ("long" * 50)).write_text("long")
        (source / "far").symlink_to("deep/" + "./" * 100)
    subprocess.run(
        [
            "tar",
            "-c",
            "-z",
            "-f",
            tmp_path / "made",
            f"--format={form}",
            "-C",
            tmp_path,
            "App",
        ],
        check=True,
    )
    target = unpack(tmp_path, (tmp_path / "made").read_bytes())
    files = {path.relative_to(target) for path in target.rglob("*")}
    assert files == {path.relative_to(source) for path in source.rglob("*")}
    assert os.readlink(target / "link") == "deep"


def _bomb(kind: str) -> bytes:
    """Return some kilobytes that unpack to many megabytes."""
    head = tarfile.TarInfo("App/zeros")
    head.size = 64 << 20
    start = head.tobuf()
    if kind == "zip":
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("App/zeros", bytes(64 << 20))
        return made.getvalue()
    engine = zlib.compressobj(9, wbits=31)
    packed = [engine.compress(start)]
    packed += [engine.compress(bytes(1 << 20)) for _ in range(64)]
    return b"".join([*packed, engine.compress(bytes(1024)), engine.flush()])


UNPACK = """
import resource, sys
def peak():
    # MiB; ru_maxrss would count the process that started this one, too
    try:
        lines = open("/proc/self/status").read().splitlines()
        return int(next(one for one in lines if one.startswith("VmHWM")).split()[1]) // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
from pathlib import Path
from builtin_plugins.library.archive import UnpackOptions, extract
from host.errors import OperationError
before = peak()
try:
    extract(Path(sys.argv[1]), Path(sys.argv[2]), "archive", UnpackOptions(size=48 << 20))
except OperationError as failure:
    print(failure)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_a_bomb_is_refused_in_little_memory(kind: str, tmp_path: Path) -> None:
    (tmp_path / "bomb").write_bytes(_bomb(kind))
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            UNPACK,
            str(tmp_path / "bomb"),
            str(tmp_path / "target"),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    reason, memory = done.stdout.splitlines()
    assert "more than 50331648 bytes unpacked" in reason
    assert int(memory) < 20
    assert not (tmp_path / "target").exists()


def test_what_is_no_archive_says_so(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"archive: the file is not a .tar"):
        unpack(tmp_path, b"<!doctype html><html></html>")
    with pytest.raises(OperationError, match=r"the file is not a .tar"):
        unpack(tmp_path, b"")


@pytest.mark.parametrize(
    "packing", ["gz", "bz2", "xz", ""], ids=["gz", "bz2", "xz", "plain"]
)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.97])
def test_a_cut_tar_is_refused(packing: str, share: float, tmp_path: Path) -> None:
    whole = tar(FILE, Member("App/noise", os.urandom(60_000)), packing=packing)
    if not packing:
        whole = whole[:62_000]  # without the padding at its end
    with pytest.raises(OperationError, match=r"damaged"):
        unpack(tmp_path, whole[: int(len(whole) * share)])
    assert list((tmp_path / "inner").iterdir()) == []


def test_a_plain_tar_that_ends_between_members_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match=r"damaged or incomplete"):
        unpack(tmp_path, tar(FILE, Member("App/b", b"b"), packing="")[:1024])


def test_a_broken_header_in_the_middle_is_refused(tmp_path: Path) -> None:
    whole = bytearray(tar(FILE, Member("App/b", b"b"), packing=""))
    whole[1024:1100] = b"\xff" * 76
    with pytest.raises(OperationError, match=r"damaged or incomplete"):
        unpack(tmp_path, bytes(whole))


def test_a_wrong_checksum_at_the_end_is_refused(tmp_path: Path) -> None:
    whole = bytearray(tar(FILE))
    whole[-6] ^= 1
    with pytest.raises(OperationError, match=r"damaged or incomplete"):
        unpack(tmp_path, bytes(whole))


def test_several_gzip_streams_and_padding_are_one_archive(tmp_path: Path) -> None:
    plain = tar(FILE, packing="")
    content = gzip.compress(plain[:700]) + gzip.compress(plain[700:]) + bytes(512)
    assert list(listed(unpack(tmp_path, content))) == ["file"]


@pytest.mark.parametrize("change", ["encrypted", "cut", "crc"])
def test_an_odd_zip_is_refused(change: str, tmp_path: Path) -> None:
    whole = bytearray(
        zipped(Member("App/file", b"content"), packing=zipfile.ZIP_STORED)
    )
    if change == "encrypted":
        whole[whole.index(b"PK\x01\x02") + 8] |= 1
    elif change == "cut":
        del whole[-30:]
    elif change == "crc":
        whole[whole.index(b"content")] ^= 1
    expected = "encrypted" if change == "encrypted" else "damaged"
    with pytest.raises(OperationError, match=expected):
        unpack(tmp_path, bytes(whole))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "a/b", "b/c", "a/b/c", "d"]),
            st.sampled_from(["file", "directory", "link"]),
            st.sampled_from(
                ["a", "b", "..", "../..", "a/b", "../a", "./b/..", "c", "../../x"]
            ),
        ),
        max_size=8,
    )
)
def test_no_accepted_tree_holds_a_link_that_leaves(
    members: list[tuple[str, str, str]],
) -> None:
    """What the validator accepts is built for real, and the kernel agrees with it."""
    import tempfile

    try:
        checked_members(
            (archives.Member(*one[:2], target=one[2]) for one in members), AS_STORED
        )  # type: ignore[arg-type]
    except OperationError:
        return
    with tempfile.TemporaryDirectory() as base:
        top = os.path.realpath(os.path.join(base, "top"))
        for name, kind, _ in members:
            place = os.path.join(top, name)
            os.makedirs(
                os.path.dirname(place) if kind != "directory" else place, exist_ok=True
            )
            if kind == "file":
                Path(place).touch()
        for name, kind, target in members:
            if kind == "link":
                os.symlink(target, os.path.join(top, name))
        for name, kind, _ in members:
            if kind == "link":
                real = os.path.realpath(os.path.join(top, name), strict=True)
                assert real == top or real.startswith(top + "/")


def test_a_zip_without_modes_has_programs(tmp_path: Path) -> None:
    """As some tools of Windows write it."""
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in (("run", b"#!/bin/sh\n"), ("elf", b"\x7fELF"), ("a", b"")):
            info = zipfile.ZipInfo(name)
            info.create_system = 0
            archive.writestr(info, content)
            info.external_attr = 0  # `writestr` sets one
    target = unpack(tmp_path, packed.read_bytes())
    modes = {path.name: path.stat().st_mode & 0o777 for path in target.iterdir()}
    assert modes == {"run": 0o755, "elf": 0o755, "a": 0o644}
