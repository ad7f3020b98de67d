"""Downloads from a real server that behaves, and from one that does not."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from builtin_plugins.library import download as downloads
from builtin_plugins.library.addresses import bare_address, fetchable, follow, parse
from builtin_plugins.library.download import download
from host.errors import OperationError
from host.variables.masking import masked_text
from testing import httpserver
from testing.growth import grows_in_proportion

BODY = os.urandom(300_000)
TWICE = {"seconds": 120, "attempts": 2}


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_a_whole_file_arrives_with_its_checksum(
    site: httpserver.Site, target: Path
) -> None:
    seen: list[tuple[int, int | None, str]] = []
    checksum = download(
        site.add("/file", BODY),
        target,
        progress=lambda *done: seen.append(done),
    )
    assert target.read_bytes() == BODY
    assert checksum == hashlib.sha256(BODY).hexdigest()
    assert seen[-1] == (len(BODY), len(BODY), "")
    assert site.requests[0][1]["Accept-Encoding"] == "identity"


def test_an_empty_file_and_a_chunked_one_arrive(
    site: httpserver.Site, target: Path
) -> None:
    download(site.add("/empty", b""), target)
    assert target.read_bytes() == b""
    download(site.add("/chunked", httpserver.chunked(b"one", b"two")), target)
    assert target.read_bytes() == b"onetwo"


BAD_ANSWERS = {
    "cut short with a length": (
        httpserver.cut(BODY, 1000, etag=None),
        "closed after 1000 of|incomplete",
    ),
    "cut short without a length": (
        httpserver.body(BODY[:1000]),
        "reports no Content-Length",
    ),
    "length larger than body": (
        httpserver.body(b"abc", content_length=9),
        "incomplete|closed after",
    ),
    "length no number": (
        httpserver.body(b"abc", content_length="9x"),
        "reports no Content-Length",
    ),
    "negative length": (
        httpserver.body(b"abc", content_length=-1),
        "reports no Content-Length|usable",
    ),
    "chunks without an end": (httpserver.chunked(b"abc", end=False), "incomplete"),
    "204": (httpserver.status(204), "answered 204, expected 200"),
    "404": (httpserver.status(404), "answered 404, expected 200"),
    "503": (httpserver.status(503), r"answered 503 \(tried 2 times\)"),
    "206 that nobody asked for": (
        httpserver.body(b"abc", 206, content_length=3, content_range="bytes 0-2/9"),
        "answered 206, expected 200",
    ),
    "redirect loop": (httpserver.redirect("/bad"), "redirected more than 10 times"),
    "redirect to nowhere": (
        httpserver.body(b"", 302, content_length=0),
        "answered 302, expected 200",
    ),
    "redirect to ftp": (
        httpserver.redirect("ftp://127.0.0.1/x"),
        "/bad: redirects to ftp://127.0.0.1/x: not an https address",
    ),
    "redirect to a file": (
        httpserver.redirect("file:///etc/passwd"),
        "/bad: redirects to file:///etc/passwd: not an https address",
    ),
    "redirect to http elsewhere": (
        httpserver.redirect("http://u:secret@example.invalid/x?token=secret"),
        "/bad: redirects to http://example.invalid/x: use https",
    ),
    "stall": (httpserver.stall(BODY, 1000), "did not answer in time"),
    "reset": (httpserver.reset_after(BODY, 1000), "connection reset|incomplete"),
    "not HTTP": (
        lambda handler: handler.wfile.write(b"hello\r\n\r\n"),
        "connection failed",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD_ANSWERS)
def test_a_bad_answer_leaves_no_file(
    name: str, site: httpserver.Site, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, expected = BAD_ANSWERS[name]
    monkeypatch.setattr(downloads, "_PAUSE_SECONDS", 0.05)
    if name == "stall":
        monkeypatch.setattr(downloads, "_STALL_SECONDS", 0.5)
    with pytest.raises(OperationError, match=expected) as failure:
        download(site.add("/bad", answer), target, **TWICE)
    assert not target.exists()
    assert "\n" not in str(failure.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer",
    [httpserver.drip(BODY, 0.05), httpserver.drip_head],
    ids=["a body that drips", "a head that drips"],
)
def test_the_deadline_ends_what_never_stalls(
    answer: httpserver.Answer, site: httpserver.Site, target: Path
) -> None:
    started = time.monotonic()
    with pytest.raises(OperationError, match=r"not finished within 1 seconds"):
        download(site.add("/drip", answer), target, seconds=1)
    assert time.monotonic() - started < 60
    assert not target.exists()


@pytest.mark.slow
def test_what_is_tried_again_is_told_with_the_reason(
    site: httpserver.Site, target: Path
) -> None:
    told: list[str] = []
    answers = (
        httpserver.reset_after(BODY, 1000),
        httpserver.status(503),
        httpserver.serve(BODY),
    )
    download(
        site.add("/file", httpserver.in_turn(*answers)),
        target,
        progress=lambda _done, _total, trouble: told.append(trouble),
    )
    first, second = filter(None, told)
    assert re.fullmatch(
        r"(connection reset by peer|the download was incomplete); "
        r"trying again in 0\.5 s \(attempt 2 of 5\)",
        first,
    )
    assert second == "the server answered 503; trying again in 1 s (attempt 3 of 5)"


def test_a_file_that_changed_meanwhile_starts_over(
    site: httpserver.Site, target: Path
) -> None:
    newer = os.urandom(250_000)
    answers = httpserver.cut(BODY, 200_000, times=1), httpserver.serve(newer, '"v2"')
    download(site.add("/file", httpserver.in_turn(*answers)), target, **TWICE)
    assert target.read_bytes() == newer


def test_a_broken_download_starts_again(site: httpserver.Site, target: Path) -> None:
    download(site.add("/file", httpserver.cut(BODY, 9999, times=1)), target, **TWICE)
    assert target.read_bytes() == BODY
    assert "Range" not in site.requests[1][1]


def test_a_file_that_is_called_compressed_stays_as_sent(
    site: httpserver.Site, target: Path
) -> None:
    """Some servers send a .tar.gz with `Content-Encoding: gzip`."""
    answer = httpserver.body(b"abc", content_length=3, content_encoding="gzip")
    download(site.add("/file", answer), target)
    assert target.read_bytes() == b"abc"


def test_a_wrong_checksum_leaves_no_file(site: httpserver.Site, target: Path) -> None:
    with pytest.raises(
        OperationError, match=f"the SHA-256 is [0-9a-f]{{64}}, expected {'0' * 64}"
    ):
        download(site.add("/file", BODY), target, sha256="0" * 64)
    assert not target.exists()


def test_a_checksum_makes_up_for_a_missing_length(
    site: httpserver.Site, target: Path
) -> None:
    address = site.add("/file", httpserver.body(BODY))
    download(address, target, sha256=hashlib.sha256(BODY).hexdigest().upper())
    assert target.read_bytes() == BODY


@pytest.mark.parametrize(
    "answer",
    [httpserver.serve(BODY), httpserver.chunked(BODY)],
    ids=["length", "chunked"],
)
def test_size_is_capped(
    answer: httpserver.Answer, site: httpserver.Site, target: Path
) -> None:
    with pytest.raises(OperationError, match=r"larger than 1000"):
        download(site.add("/file", answer), target, size=1000)
    assert not target.exists()


def test_nobody_listens(target: Path) -> None:
    with pytest.raises(OperationError, match=r"connection refused \(tried 1 times\)"):
        download("http://127.0.0.1:9/x", target, attempts=1)


def test_a_directory_that_is_not_there_is_named(
    site: httpserver.Site, tmp_path: Path
) -> None:
    with pytest.raises(OperationError, match=r"/file: .*absent/file: No such file"):
        download(site.add("/file", BODY), tmp_path / "absent" / "file")


def test_proxies_are_used_but_not_for_this_machine(
    site: httpserver.Site, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    download(site.add("/file", BODY), target)
    with pytest.raises(OperationError, match=r"refused"):
        download("https://example.invalid/x", target, attempts=1)


def test_ca_settings_are_honoured(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/bundle.pem")
    with pytest.raises(OperationError):
        download("https://127.0.0.1:9/x", target, attempts=1)


def test_ctrl_c_leaves_no_file(site: httpserver.Site, target: Path) -> None:
    def interrupt(done: int, total: int | None, trouble: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download(
            site.add("/stall", httpserver.stall(BODY, 200_000)),
            target,
            progress=interrupt,
        )
    assert not target.exists()


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://user:secret@host/path?token=secret#x", "https://host/path"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        (
            "https://host/\x1b[31m",
            "https://host/\x1b[31m",
        ),  # escaped where it is written
        ("nonsense?x=secret", "nonsense"),
        ("", '""'),
        ("file:///etc/passwd", "file:///etc/passwd"),
        ("https://user:secret@[::1/x", "https://…@[::1/x"),
    ],
)
def test_an_address_is_shown_without_secrets(address: str, expected: str) -> None:
    assert bare_address(address) == expected


@pytest.mark.parametrize(
    "address",
    [
        "https://host/x",
        "http://localhost/x",
        "http://127.9.9.9/x",
        "http://[::1]:8080/x",
    ],
)
def test_addresses_that_may_be_fetched(address: str) -> None:
    assert fetchable(address).url == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "http://host/x",
        "http://localhost.evil.example/x",
        "http://127.0.0.1.evil.example/",
        "http://0.0.0.0/x",
        "ftp://host/x",
        "file:///etc/passwd",
        "https://",
        "https:///x",
        "https://host/a b",
        "https://host/\n",
        "https://host:port/",
        "https://host:0/",
        "https://[::1/",
        "-oProxy",
        "javascript:1",
        "http://evil.test:80\\@127.0.0.1/x",
        "http://127.0.0.1\\@evil.test/x",
        "https://a@b@host/x",
        "https://@host/x",
        "https://us er@host/x",
        "https://host\t.evil.test/x",
        "https://host\u3000/x",
        "https://host\u2044evil.test/x",
        "https://h\xf6st/x",
        "https://host\x85/x",
        " https://host/x",
        "https://host/x\\y",
        "https:\\\\host/x",
        "https:/host/x",
        "https://[::1]evil.test/x",
        "http://[::1%25lo]/x",
        "https://host:99999/x",
        "https://host:+80/x",
        "https://-host/x",
        "https://%68ost/x",
    ],
)
def test_addresses_that_may_not(address: str) -> None:
    with pytest.raises(OperationError) as failure:
        fetchable(address)
    assert len(str(failure.value)) < 120


@pytest.mark.parametrize(
    "address",
    [
        "http://{other}\\@{this}/x",
        "http://{this}@{other}\\@{this}/x",
        "http://{other}\t@{this}/x",
    ],
)
def test_what_two_parsers_read_differently_is_asked_of_nobody(
    address: str, site: httpserver.Site, target: Path
) -> None:
    """The first of them was sent to the other server, in clear and past its check."""
    with httpserver.running() as other:
        hosts = {
            "this": site.address[7:],
            "other": other.address[7:].replace("127.0.0.1", "localhost"),
        }
        with pytest.raises(OperationError):
            download(address.format(**hosts), target, **TWICE)
        start = site.add("/start", httpserver.redirect(address.format(**hosts)))
        with pytest.raises(OperationError, match="/start: redirects to"):
            download(start, target, **TWICE)
        assert (len(site.requests), other.requests) == (1, [])


def test_parts_of_an_address() -> None:
    found = parse("HTTPS://me:a%40b%2F@Host.TEST:0443/a/../b?q=1#part")
    assert found is not None
    assert found.url == "https://host.test:443/a/../b?q=1"
    assert (found.user, found.password) == ("me", "a%40b%2F")
    assert parse("file:///etc") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["a", "//", ":/", "@", "a@", "//@", "//a:b", "ssh://a:b@", "?", "&a=", "a:", " @:"],
)
@pytest.mark.parametrize("read", [masked_text, parse, bare_address])
def test_reading_an_address_takes_linear_time(
    read: Callable[[str], object], unit: str
) -> None:
    def make(length: int) -> str:
        return "https://" + unit * (length // len(unit))

    assert grows_in_proportion(make, read, 10_000)


def test_a_redirect_never_leaves_https() -> None:
    assert follow("https://host/a/b", "../c") == "https://host/c"
    assert follow("http://127.0.0.1/a", "https://host/c") == "https://host/c"
    with pytest.raises(OperationError, match=r"from https to http://localhost/x"):
        follow("https://host/a", "http://localhost/x")


def test_what_a_redirect_says_is_not_waited_for(
    site: httpserver.Site, target: Path
) -> None:
    def slow(handler: httpserver.Handler) -> None:
        handler.head(302, location="/file", content_length=100)
        handler.wfile.flush()
        time.sleep(10)

    site.add("/file", BODY)
    download(site.add("/slow", slow), target, attempts=1)
    assert target.read_bytes() == BODY


def test_credentials_do_not_follow_a_redirect(
    site: httpserver.Site, target: Path
) -> None:
    with httpserver.running() as other:
        elsewhere = other.add("/file", BODY)
        start = site.add("/start", httpserver.redirect(elsewhere))
        download(start.replace("http://", "http://user:secret@"), target)
        assert "Authorization" in site.requests[0][1]
        assert "Authorization" not in other.requests[0][1]
        inside = site.add("/inside", httpserver.redirect("/start"))
        download(inside.replace("http://", "http://user:se%40cret@"), target)
        assert (
            site.requests[-1][1]["Authorization"]
            == site.requests[-2][1]["Authorization"]
        )
        assert site.requests[-1][1]["Authorization"] == "Basic dXNlcjpzZUBjcmV0"
        assert "Authorization" not in other.requests[-1][1]
