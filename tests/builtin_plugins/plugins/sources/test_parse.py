"""What SOURCE names: its form decides, never what happens to lie here or on an index."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from builtin_plugins.library.addresses import without_credentials
from builtin_plugins.plugins.sources.parse import parse_source
from builtin_plugins.registry.entry import read_entry
from host.errors import HostError
from testing.installation import Made
from testing.plugin_sources import (
    Repository,
    listed,
    plugin,
    plugin_files,
    registry,
    write_tree,
)

Install = Callable[..., Made]

ORIGINS = {
    "user/repo": ("git", "https://github.com/user/repo"),
    "user/repo.git": ("git", "https://github.com/user/repo"),
    "https://h.test/a/b": ("git", "https://h.test/a/b"),
    "https://u:p@h.test/a": ("git", "https://h.test/a"),
    "ssh://git@h.test/a": ("git", "ssh://git@h.test/a"),
    "ssh://git:pw@h.test:22/a": ("git", "ssh://git@h.test:22/a"),
    "git@h.test:a/b.git": ("git", "git@h.test:a/b.git"),
    "git://h.test/a": ("git", "git://h.test/a"),
    "git+https://h.test/a.zip": ("git", "https://h.test/a.zip"),
    "https://h.test/a.tar.gz": ("archive", "https://h.test/a.tar.gz"),
    "https://h.test/a.zip?x=1": ("archive", "https://h.test/a.zip?x=1"),
    "https://h.test/a.zip?X-Amz-Signature=1": ("archive", "https://h.test/a.zip"),
    "https://h.test/a-1.0-py3-none-any.whl": (
        "pip",
        "https://h.test/a-1.0-py3-none-any.whl",
    ),
    "https://[2001:db8::1]:8/a.zip": ("archive", "https://[2001:db8::1]:8/a.zip"),
    "ssh://git@[::1]/a": ("git", "ssh://git@[::1]/a"),
    "pip:acme>=1": ("pip", "acme>=1"),
    "pip: acme-cli[x]~=1.2 ": ("pip", "acme-cli[x]~=1.2"),
    "pip:Acme @ git+https://u:p@h.test/a@v1": ("pip", "acme @ git+https://h.test/a"),
    "pip:a[y,x]@git+ssh://git@h.test/a": ("pip", "a[x,y] @ git+ssh://git@h.test/a"),
    "pip:a @ git+file:///x/a.whl": ("pip", "a @ git+file:///x/a.whl"),
    # a private character, one that is not assigned, and a space
    "file:///\ue000/\u0378/\u3000": ("git", "file:///\ue000/\u0378/\u3000"),
}


@pytest.mark.parametrize(("text", "expected"), ORIGINS.items())
def test_sources(text: str, expected: tuple[str, str]) -> None:
    found = parse_source(text).entry
    assert (found.kind, found.source) == expected
    assert read_entry({**found.fields(), "name": "a"})


def test_sources_of_sites() -> None:
    assert parse_source("a/b", ssh=True).address == "git@github.com:a/b.git"
    assert parse_source("a/b", site="gitlab").address == "https://gitlab.com/a/b"
    assert (
        parse_source("a/b", site="bitbucket", ssh=True).address
        == "git@bitbucket.org:a/b.git"
    )
    assert without_credentials("https://x@[::1]:8/a") == "https://[::1]:8/a"


REFUSED = [
    "", "-x", "--upload-pack=touch x", "ext::sh -c id", "fd::3", "http://h.test/a", "ftp://h/a",
    "javascript://x", "file+ext::x", "a\nb", "file:///a\nb", "git+ext://x", "transport::address",
    "git+ext::sh",
    "https://h.test\\@evil.test/a", "ssh://h.test\\@evil.test/a", "https://h:443@@evil.test/a.zip",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused_sources(text: str) -> None:
    with pytest.raises(HostError):
        parse_source(text)


@pytest.mark.parametrize("ref", ["--upload-pack=x", "-b", "a b"])
def test_refused_refs(install: Install, ref: str) -> None:
    done = plugin(install(), "add", "https://192.0.2.1/a", f"--ref={ref}")
    assert done.status == 2
    assert "not a valid branch, tag or commit" in done.stderr


PATHS = {
    "./acme": "local", "acme/": "local", "{here}/acme": "local", "./user/repo": "local",
    "../{name}/acme": "local", "./a::b": "local", "./a\tb": "local", "./a\nb": "local",
    "acme.tar.gz": "archive", "./acme.zip": "archive", "acme-1.0-py3-none-any.whl": "pip",
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), PATHS.items())
def test_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, kind: str
) -> None:
    for name in ("acme", "user/repo", "a::b", "a\tb", "a\nb"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("acme.tar.gz", "acme.zip", "acme-1.0-py3-none-any.whl"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    text = text.format(here=tmp_path, name=tmp_path.name)
    found = parse_source(text).entry
    assert (found.kind, found.source) == (kind, os.path.abspath(text))


@pytest.mark.parametrize(
    "here", [False, True], ids=["nothing here", "a directory here"]
)
@pytest.mark.parametrize("word", ["greet", "acme-cli>=1.2", "acme-cli[x]", ".hidden"])
@pytest.mark.sampled
def test_a_bare_word_is_neither(
    install: Install,
    tmp_path: Path,
    word: str,
    here: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is asked of any index: its address is that of nobody, and no time passes."""
    made = install()
    if here:
        write_tree(tmp_path / word, plugin_files())
    asked = {
        "PIP_INDEX_URL": "http://192.0.2.1/simple",
        "UV_DEFAULT_INDEX": "http://192.0.2.1/",
    }
    done = plugin(made, "add", word, cwd=tmp_path, env=asked, timeout=30)
    expected = (
        f"cli: {word}: not a valid SOURCE; write ./{word} for a directory, "
        f"or pip:{word} for a package"
    )
    assert (done.status, done.stdout, done.stderr.strip()) == (2, "", expected)
    assert listed(made) == {}


SITES = {
    "--ssh ./acme": "--ssh can only be used with user/repository, not ./acme",
    "--ssh https://h.test/a": "--ssh can only be used with user/repository, not https://h.test/a",
    "--ssh git@h.test:a/b": "--ssh can only be used with user/repository, not git@h.test:a/b",
    "--ssh pip:acme": "--ssh can only be used with user/repository, not pip:acme",
    "--gitlab pip:acme": "--gitlab can only be used with user/repository, not pip:acme",
    "--bitbucket ./acme": "--bitbucket can only be used with user/repository, not ./acme",
    "--gitlab --bitbucket a/b": (
        "self plugin add: --bitbucket and --gitlab cannot be given together"
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        "a\tb",
        "ä;$(x)",
        pytest.param("a\nb", marks=pytest.mark.night),
        pytest.param("a b", marks=pytest.mark.night),
    ],
)
def test_a_linked_directory_of_any_name(
    install: Install, tmp_path: Path, name: str
) -> None:
    made = install()
    source = write_tree(tmp_path / name, plugin_files())
    done = plugin(made, "add", f"./{name}", "--name", "acme", cwd=tmp_path)
    assert done.status == 0, done.stderr
    assert made.run("demo", "hi").stdout == "hi\n"
    assert registry(made)["acme"]["source"] == str(source)
    assert "\t" not in plugin(made, "show", "acme").stdout
    assert plugin(made, "remove", "acme").status == 0
    assert (source / "demo/hi/main.sh").exists()


@pytest.mark.parametrize(("words", "said"), SITES.items())
def test_sites_where_they_make_no_sense(
    install: Install, tmp_path: Path, words: str, said: str
) -> None:
    write_tree(tmp_path / "acme", plugin_files())
    done = plugin(install(), "add", *words.split(), cwd=tmp_path)
    assert done.all == (2, "", f"cli: {said}\n")


_WHEEL = "acme-1.0-py3-none-any.whl"
_NO_REQUIREMENTS = (
    f"/h/{_WHEEL}",
    f"./{_WHEEL}",
    f"--x/{_WHEEL}",
    f"https://h.test/{_WHEEL}",
)


@pytest.mark.parametrize(
    "text", [*_NO_REQUIREMENTS, f"a @ https://h.test/{_WHEEL}", "a @ b://c"]
)
def test_what_pip_is_asked_for_is_no_file_and_no_address(text: str) -> None:
    with pytest.raises(HostError, match="not a requirement; expected a name such as"):
        parse_source(f"pip:{text}")


REFS = ["fix/#123", "release!", "ünïcode", "a+b=c@d", "v1.0,x;y|z"]


@pytest.mark.parametrize("ref", REFS)
def test_refs_that_git_allows(ref: str) -> None:
    assert parse_source("https://h.test/a", ref=ref).entry.ref == ref


@pytest.mark.parametrize(
    "ref", [REFS[0], *(pytest.param(ref, marks=pytest.mark.night) for ref in REFS[1:])]
)
def test_branches_that_git_allows(install: Install, tmp_path: Path, ref: str) -> None:
    made = install()
    repository = Repository(tmp_path / "acme", plugin_files())
    repository.git("switch", "-q", "-c", ref)
    repository.commit(plugin_files(says="from the branch"))
    repository.git("switch", "-q", "main")
    done = plugin(made, "add", repository.url, "--ref", ref)
    assert done.status == 0, done.stderr
    assert made.run("demo", "hi").stdout == "from the branch\n"


def test_a_directory_that_looks_like_a_repository(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    write_tree(tmp_path / "ops/scripts", plugin_files("demo/hi", "hi"))
    refused = plugin(made, "add", "ops/scripts", cwd=tmp_path)
    what = "ops/scripts is a directory here, and may be a repository"
    remedy = "write ./ops/scripts, or https://github.com/ops/scripts"
    assert refused.all == (2, "", f"cli: {what}; {remedy}\n")
    # `self add` is the short form.
    assert made.run("self", "add", "./ops/scripts", cwd=tmp_path).status == 0
    assert made.run("demo", "hi").stdout == "hi\n"


def test_a_second_folder_of_a_name_is_named_after_its_parent(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    for parent in ("v", "w"):
        files = {f"bin/{parent}-hello": "#!/bin/sh\necho hello\n"}
        write_tree(tmp_path / parent, files)
        assert plugin(made, "add", str(tmp_path / parent / "bin")).status == 0
    assert [*registry(made)] == ["bin", "w-bin"]
    again = plugin(made, "add", str(tmp_path / "w/bin"))
    assert "is already installed" in again.stdout
    assert [*registry(made)] == ["bin", "w-bin"]


def test_one_script_is_no_source(install: Install, tmp_path: Path) -> None:
    write_tree(tmp_path / "tools", {"ship.sh": "#!/bin/sh\n"})
    refused = plugin(install(), "add", "./tools/ship.sh", cwd=tmp_path)
    assert refused.status == 2
    assert "add its folder, ./tools/, or copy it" in refused.stderr
    assert "self new command WORDS --from ./tools/ship.sh" in refused.stderr
