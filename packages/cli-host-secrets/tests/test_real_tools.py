"""References to real tools: pass with gpg, age, sops and keyring."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from conftest import Cli, make_key, needs, rare

_PASS = needs("pass", "gpg")
_AGE = needs("age")
_SOPS = needs("age", "sops")
_ENTRY = "hush\nUser: ada\nurl: https://example.org:8080\n"


def line(cli: Cli, reason: str, reference: str, name: str = "TOKEN") -> str:
    return f'acme: {cli.folder}/command.json: "secrets.{name}": {reference}: {reason}\n'


@_PASS
def test_pass(store: Cli) -> None:
    store.tool("pass", "insert", "--multiline", "team/web", stdin=_ENTRY)
    store.show(
        {
            "TOKEN": "pass:team/web",
            "WHO": "pass:team/web#user",
            "WHERE": "pass:team/web#url",
            "ALL": "pass:team/web#*",
        }
    )
    shown = f"TOKEN=hush\nWHO=ada\nWHERE=https://example.org:8080\nALL={_ENTRY}"
    assert store.run("try", "show") == (0, shown, "")


_FAILURES = {
    "pass:team": "team is a folder in pass; name an entry",
    "pass:team/web#pin": 'the entry has no line "pin: …"',
    "pass:#user": "expected pass:NAME or pass:NAME#FIELD",
    "pass:--clip": "expected pass:NAME or pass:NAME#FIELD",
    "pass:../web": "pass ended with status 1: Error: You've attempted to pass a sneaky path "
    "to pass. Go home.; try: pass show -- ../web",
    "pass:none": "pass ended with status 1: Error: none is not in the password store.; "
    "try: pass show -- none",
}


@_PASS
def test_pass_fails_in_one_line(store: Cli) -> None:
    """In one run of all."""
    store.tool("pass", "insert", "--multiline", "team/web", stdin=_ENTRY)
    store.show({f"N{number}": reference for number, reference in enumerate(_FAILURES)})
    lines = [
        line(store, reason, reference, f"N{number}")
        for number, (reference, reason) in enumerate(_FAILURES.items())
    ]
    assert store.run("try", "show") == (1, "", "".join(lines))


@_PASS
def test_a_locked_key_without_a_terminal(store: Cli) -> None:
    make_key(store, "locked@example.org", "a passphrase")
    store.tool("pass", "init", "locked@example.org")
    store.tool("pass", "insert", "--multiline", "token", stdin="hush\n")
    store.tool("gpgconf", "--kill", "gpg-agent")
    store.show({"TOKEN": "pass:token"})
    status, out, err = store.run("try", "show")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(
        line(store, "pass ended with status 2: gpg: ", "pass:token")[:-1]
    )
    assert err.endswith("; try: pass show -- token\n")


@_AGE
def test_age(cli: Cli, recipient: str) -> None:
    cli.show({"TOKEN": "age:token.age", "PIN": "age:$HOME/pin.age"})
    for path in (cli.folder / "token.age", cli.home / "pin.age"):
        cli.tool("age", "--recipient", recipient, "--output", str(path), stdin="hush\n")
    assert cli.run("try", "show") == (0, "TOKEN=hush\nPIN=hush\n", "")


@_AGE
@pytest.mark.parametrize("place", [".config/age/keys.txt", ".config/sops/age/keys.txt"])
def test_keys_in_the_usual_places(cli: Cli, recipient: str, place: str) -> None:
    cli.show({"TOKEN": "age:token.age"})
    encrypted = str(cli.folder / "token.age")
    cli.tool("age", "--recipient", recipient, "--output", encrypted, stdin="hush\n")
    (cli.home / place).parent.mkdir(parents=True)
    Path(cli.more.pop("AGE_IDENTITY_FILE")).rename(cli.home / place)
    assert cli.run("try", "show") == (0, "TOKEN=hush\n", "")


@_AGE
def test_age_fails_in_one_line(cli: Cli, recipient: str) -> None:
    cli.show({"TOKEN": "age:none.age", "PIN": "age:plain.age", "KEY": "age:token.age"})
    encrypted = str(cli.folder / "token.age")
    cli.tool("age", "--recipient", recipient, "--output", encrypted, stdin="hush\n")
    (cli.folder / "plain.age").write_text("hush\n")
    status, out, err = cli.run("try", "show")
    assert (status, out, err.count("\n")) == (1, "", 2)
    assert err.startswith(
        line(cli, f"{cli.folder}/none.age does not exist", "age:none.age")
    )
    assert "age ended with status 1: age: error: " in err
    cli.show({"KEY": "age:token.age"})
    status, out, err = cli.run("try", "show", AGE_IDENTITY_FILE="")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.endswith("(no identity file found; set AGE_IDENTITY_FILE)\n")


@_SOPS
def test_sops(cli: Cli, recipient: str) -> None:
    written = json.dumps(
        {
            "db": {"password": "hush", "port": 5432, "hosts": ["a", "b"]},
            "api/v1": {"key/a": "still"},
        }
    )
    cli.show(
        {
            "WORD": "sops:secrets.yaml#db/password",
            "PORT": "sops:secrets.yaml#db/port",
            "HOST": "sops:secrets.yaml#/db/hosts/1",
            "SLASH": "sops:secrets.yaml#api/v1/key/a",
            "TEXT": "sops:$HOME/token.enc",
        }
    )
    (cli.folder / "secrets.yaml").write_text(written)
    cli.tool(
        "sops",
        "--encrypt",
        "--in-place",
        "--age",
        recipient,
        f"{cli.folder}/secrets.yaml",
    )
    (cli.home / "token.txt").write_text("quiet\n")
    words = [
        "sops",
        "--encrypt",
        "--age",
        recipient,
        "--output",
        "token.enc",
        "token.txt",
    ]
    cli.tool(*words)
    assert cli.run("try", "show") == (
        0,
        "WORD=hush\nPORT=5432\nHOST=b\nSLASH=still\nTEXT=quiet\n",
        "",
    )


@_SOPS
@pytest.mark.parametrize("name", [".env.enc", "secrets.yaml.enc"])
def test_sops_keeps_the_format(cli: Cli, recipient: str, name: str) -> None:
    """A dotenv file keeps its format, even if the file's name does not show the format."""
    kind = "yaml" if "yaml" in name else "dotenv"
    text = {"yaml": "TOKEN: hush\n", "dotenv": "TOKEN=hush\nPIN=1\n"}
    is_dotenv = kind == "dotenv"
    more = {"env_files": [f"sops:{name}"], "names": ["TOKEN"]} if is_dotenv else {}
    cli.show({} if is_dotenv else {"TOKEN": f"sops:{name}#TOKEN"}, **more)
    (cli.home / "plain").write_text(text[kind])
    words = [
        "--encrypt",
        "--age",
        recipient,
        "--input-type",
        kind,
        "--output-type",
        kind,
    ]
    cli.tool("sops", *words, "--output", f"{cli.folder}/{name}", "plain")
    assert "hush" not in (cli.folder / name).read_text()
    assert cli.run("try", "show") == (0, "TOKEN=hush\n", "")


# One row for each format of sops: the file's name, the format of the text, the text, and the
# values as bytes. A mapping is data: `$`, `#`, quotes, blanks and line breaks stay.
_HARD = {"A": "p@$$w0rd$HOME", "B": '"q u"', "C": "abc #def", "D": "one\ntwo", "E": ""}
_DOTENV = 'A=p@$$w0rd$HOME\nB="q u"\nC=abc #def\nD=one\\ntwo\nE=\n'
_FORMATS = [
    ("values.env", "dotenv", _DOTENV, _HARD),
    ("values.enc", "dotenv", _DOTENV, _HARD),
    ("values.json", "json", json.dumps({**_HARD, "N": 7, "T": True, "Z": None}),
     {**_HARD, "N": "7", "T": "true"}),
    pytest.param("values.json.enc", "json", json.dumps(_HARD), _HARD, marks=rare),
    ("values.yaml", "yaml", json.dumps({**_HARD, "N": 5432, "F": 1.5}),
     {**_HARD, "N": "5432", "F": "1.5"}),
    ("values.ini", "ini", "A=p@$$w0rd$HOME\nB=x\n", {"A": "p@$$w0rd$HOME", "B": "x"}),
]  # fmt: skip


@_SOPS
@pytest.mark.parametrize(("name", "form", "text", "values"), _FORMATS)
def test_sops_gives_the_same_bytes_as_a_file_and_as_a_key(
    cli: Cli, recipient: str, name: str, form: str, text: str, values: dict[str, str]
) -> None:
    encrypted(cli, recipient, name, form, text)
    shown = "".join(f"{key}={value}\n" for key, value in values.items())
    cli.show({}, env_files=[f"sops:{name}"], names=list(values))
    assert cli.run("try", "show") == (0, shown, "")
    place = "DEFAULT/" if form == "ini" else ""
    cli.show({key: f"sops:{name}#{place}{key}" for key in values})
    assert cli.run("try", "show") == (0, shown, "")


@_SOPS
def test_sops_files_that_are_no_variables(cli: Cli, recipient: str) -> None:
    encrypted(cli, recipient, "nested.yaml", "yaml", 'A: hush\ndb: {"B": "quiet"}\n')
    encrypted(cli, recipient, "sections.ini", "ini", "[db]\nA=hush\n")
    for name, key in (("nested.yaml", "db"), ("sections.ini", "db")):
        cli.show({}, env_files=[f"sops:{name}"], names=["A"])
        reason = (
            f"{key} is an object or a list; `env_files` needs one value for each name"
        )
        expected = (
            f'acme: {cli.folder}/command.json: "env_files": sops:{name}: {reason}\n'
        )
        assert cli.run("try", "show") == (1, "", expected)
    cli.show({}, env_files=["sops:nested.yaml#db"], names=["B"])
    assert cli.run("try", "show") == (0, "B=quiet\n", "")


@_SOPS
def test_a_binary_file_of_sops_is_the_text_of_an_env_file(
    cli: Cli, recipient: str
) -> None:
    encrypted(cli, recipient, "values.enc", "binary", "A='hush'\nB=$A\n")
    cli.show({}, env_files=["sops:values.enc"], names=["A", "B"])
    assert cli.run("try", "show") == (0, "A=hush\nB=hush\n", "")


def encrypted(cli: Cli, recipient: str, name: str, form: str, text: str) -> None:
    cli.folder.mkdir(parents=True, exist_ok=True)
    (cli.home / "plain").write_text(text)
    words = [
        "--encrypt",
        "--age",
        recipient,
        "--input-type",
        form,
        "--output-type",
        form,
    ]
    cli.tool("sops", *words, "--output", f"{cli.folder}/{name}", "plain")


@_SOPS
def test_sops_fails_in_one_line(cli: Cli, recipient: str) -> None:
    cli.show(
        {
            "A": "sops:none.yaml",
            "B": "sops:a.yaml#c/d",
            "C": "sops:a.yaml#b",
            "D": "sops:-x",
        }
    )
    (cli.folder / "a.yaml").write_text("b: [hush]\n")
    cli.tool(
        "sops", "--encrypt", "--in-place", "--age", recipient, f"{cli.folder}/a.yaml"
    )
    (cli.home / "other").write_text("")
    expected = [
        line(
            cli,
            f"{cli.folder}/none.yaml: No such file or directory",
            "sops:none.yaml",
            "A",
        ),
        line(cli, "the secret has no c/d", "sops:a.yaml#c/d", "B"),
        line(
            cli,
            "b is an object or a list; name one of its fields",
            "sops:a.yaml#b",
            "C",
        ),
        line(cli, "expected sops:FILE or sops:FILE#KEY", "sops:-x", "D"),
    ]
    assert cli.run("try", "show") == (1, "", "".join(expected))
    cli.show({"B": "sops:a.yaml#c/d"})
    status, out, err = cli.run("try", "show", SOPS_AGE_KEY_FILE="/nonexistent")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "sops ended with status 128: Failed to get the data key" in err


@pytest.fixture
def keyring(cli: Cli) -> Cli:
    cli.more["PYTHON_KEYRING_BACKEND"] = "keyrings.alt.file.PlaintextKeyring"
    words = [sys.executable, "-m", "keyring", "set", "https://example.org/", "ada"]
    cli.tool(*words, stdin="hush")
    return cli


def test_keyring(keyring: Cli) -> None:
    keyring.show({"TOKEN": "keyring:https://example.org//ada"})
    assert keyring.run("try", "show") == (0, "TOKEN=hush\n", "")


def test_keyring_fails_in_one_line(keyring: Cli) -> None:
    keyring.show({"TOKEN": "keyring:other/bob"})
    reason = "the keyring has no such entry; try: keyring set other bob"
    assert keyring.run("try", "show") == (
        1,
        "",
        line(keyring, reason, "keyring:other/bob"),
    )
    keyring.show({"TOKEN": "keyring:ada"})
    reason = "expected keyring:SERVICE/USER"
    assert keyring.run("try", "show") == (1, "", line(keyring, reason, "keyring:ada"))
    keyring.show({"TOKEN": "keyring:other/bob"})
    status, out, err = keyring.run(
        "try", "show", PYTHON_KEYRING_BACKEND="keyring.backends.fail.Keyring"
    )
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "No recommended backend was available" in err


@pytest.mark.parametrize(
    "source", ["", "/tmp/w/cli_host_secrets-0.1.0-py3-none-any.whl"]
)
def test_keyring_is_not_installed(cli: Cli, source: str) -> None:
    entry = {"name": "cli-host-secrets", "kind": "pip", "source": source}
    text = json.dumps({"plugins": [entry]})
    (cli.home / "registry.json").write_text(text)
    added = f"{source}[keyring]" if source else "pip:cli-host-secrets[keyring]"
    program = (
        "import sys; sys.modules['keyring'] = None; sys.argv = ['/x/core/acme fleet run']\n"
        "from cli_host_secrets.system_keyring import resolve\n"
        "try: resolve(['keyring:a/b'], {'PLUGINS_DIR': '.'})\n"
        "except Exception as failure: print(failure)\n"
    )
    assert cli.tool(sys.executable, "-c", program) == (
        "the keyring library is not installed; run: acme self plugin remove cli-host-secrets && "
        f"acme self plugin add '{added}'\n"
    )
