"""`secrets check`: each reference with its state, and never a value."""

from __future__ import annotations

import json

import pytest
from click.shell_completion import ShellComplete

from cli_host_secrets.check import check
from conftest import Cli, needs
from testing.installation import variables_of

_GOOD, _BAD = "op://prod/db/password", "op://prod/db"


def test_each_reference_has_a_line(cli: Cli) -> None:
    cli.stand_in()
    secrets = {
        "A": "aws-sm:prod/token",
        "B": _GOOD,
        "C": _BAD,
        "D": "vault:secret/db#none",
    }
    cli.show(secrets)
    reason = 'expected op://VAULT/ITEM/FIELD without any of {}$"`\\'
    expected = (
        f"try show: A: aws-sm:prod/token: ok\n"
        f"try show: B: {_GOOD}: ok\n"
        f"try show: C: {_BAD}: failed: {reason}\n"
        f"try show: D: vault:secret/db#none: failed: the secret has no none\n"
    )
    assert cli.run("secrets", "check") == (1, expected, "")
    cli.show({"C": _BAD})
    for words in (("try",), ("try", "show")):
        failed = f"try show: C: {_BAD}: failed: {reason}\n"
        assert cli.run("secrets", "check", *words) == (1, failed, "")


def test_json_and_a_variable_that_is_set(cli: Cli) -> None:
    cli.stand_in()
    cli.show({"A": _GOOD, "B": _BAD}, env_files=["vault:secret/db"])
    status, out, err = cli.run("secrets", "check", "--format", "json", B="mine")
    assert (status, err) == (0, "")
    rows = json.loads(out)["references"]
    assert [(row["name"], row["state"]) for row in rows] == [
        ("env_files", "ok"),
        ("A", "ok"),
        ("B", "skipped"),
    ]
    assert "hush" not in out


def test_an_optional_reference(cli: Cli) -> None:
    cli.stand_in()
    cli.show({"A": {"reference": _BAD, "optional": True}})  # type: ignore[dict-item]
    status, out, err = cli.run("secrets", "check")
    assert (status, err.count("\n")) == (0, 1)
    state = "skipped: the optional reference cannot be resolved"
    assert out == f"try show: A: {_BAD}: {state}\n"


def test_a_file_that_fails_comes_first(cli: Cli) -> None:
    cli.stand_in()
    cli.show({"A": _GOOD}, env_files=["vault:secret/deleted"])
    status, out, _ = cli.run("secrets", "check")
    assert status == 1
    assert out == (
        "try show: env_files: vault:secret/deleted: failed: vault has no data at this path\n"
        f"try show: A: {_GOOD}: skipped: not checked, because another reference failed first\n"
    )


@pytest.mark.parametrize("word", ["nothing", "self"])
def test_no_such_command(cli: Cli, word: str) -> None:
    status, out, err = cli.run("secrets", "check", word)
    assert (status, out) == (2, "")
    assert err == f"acme secrets check: {word} is neither a command nor a category\n"


def test_nothing_to_check(cli: Cli) -> None:
    cli.show({})
    assert cli.run("secrets", "check", "try")[:2] == (0, "")


@needs("pass", "gpg", "age", "sops")
def test_real_tools(store: Cli, recipient: str) -> None:
    store.tool("pass", "insert", "--multiline", "token", stdin="hush\n")
    store.show({"A": "pass:token", "B": "pass:none"}, env_files=["sops:values.env"])
    (store.folder / "values.env").write_text("C=hush\n")
    words = ["sops", "--encrypt", "--in-place", "--age", recipient]
    store.tool(*words, f"{store.folder}/values.env")
    status, out, _ = store.run("secrets", "check", "try", "show")
    assert status == 1
    assert out.startswith(
        "try show: env_files: sops:values.env: ok\ntry show: A: pass:token: ok\n"
    )
    assert (
        "try show: B: pass:none: failed: pass ended with status 1: Error: none is not"
        in out
    )
    assert "hush" not in out


def test_tab_offers_categories_and_commands(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.show({})
    ours = variables_of(cli.root, "secrets", "check")
    for name, value in {**cli.environ, **ours}.items():
        monkeypatch.setenv(name, value)

    def offered(typed: str, *before: str) -> list[str]:
        complete = ShellComplete(check, {}, "acme", "_ACME_COMPLETE")
        return [item.value for item in complete.get_completions([*before], typed)]

    assert offered("tr") == ["try"]
    assert offered("", "try") == ["show"]
    assert offered("", "try", "show") == []
