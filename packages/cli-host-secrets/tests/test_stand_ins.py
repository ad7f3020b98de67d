"""References to op, vault, bao, aws and gcloud, which are replaced by stand-ins."""

from __future__ import annotations

import json

import pytest

from conftest import Cli

_OP = {
    "A": "op://prod/db/password",
    "B": "op://prod/db/two lines",
    "C": "op://prod/db/admin/pin?attribute=otp",
    "D": "op://prod/db/password",
}
_VAULT = {
    "A": "vault:secret/db#password",
    "B": "vault://secret/db#port",
    "C": "vault:kv1/db#password",
}
_ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/token"
_AWS = {
    "A": "aws-sm:prod/db#password",
    "B": "aws-sm:prod/db#port",
    "C": f"aws-sm:{_ARN}",
    "D": f"aws-sm:{_ARN}-AbCdEf",
    "E": "aws-sm:prod/key",
}
_GCP = {"A": "gcp-sm:token", "B": "gcp-sm:projects/other/secrets/token/versions/3#pin"}
_FAILURES = {
    "op://prod/db/none": "op ended with status 1: [ERROR] 2026/01/01 12:00:00 could not read "
    "secret op://prod/db/none: no such item; try: op read op://prod/db/none",
    "op://prod/db": 'expected op://VAULT/ITEM/FIELD without any of {}$"`\\',
    'op://prod/db/{{ "x" }}': 'expected op://VAULT/ITEM/FIELD without any of {}$"`\\',
    "vault:secret/db#none": "the secret has no none",
    "vault:secret/db": "expected vault:MOUNT/PATH#FIELD",
    "bao:-format=table#x": "expected bao:MOUNT/PATH#FIELD",
    "vault:secret/deleted#x": "vault has no data at this path",
    "vault:secret/none#x": "vault ended with status 2: No value found at secret/none; "
    "try: vault kv get -format=json secret/none",
    "bao:secret/denied#x": "bao ended with status 2: Error making API request. URL: GET "
    "http://127.0.0.1:8200/v1/secret/data/denied Code: 403. Errors: * permission denied; "
    "try: bao kv get -format=json secret/denied",
    "aws-sm:prod/none": "aws ended with status 254: An error occurred (ResourceNotFoundException) "
    "when calling the GetSecretValue operation: Secrets Manager can't find the specified secret.; "
    "try: aws secretsmanager get-secret-value --output json --cli-input-json "
    """'{"SecretId": "prod/none"}'""",
    "aws-sm:prod/token#pin": "the secret is not JSON",
    "aws-sm:--debug": "expected aws-sm:NAME or aws-sm:NAME#KEY",
    "gcp-sm:none": "gcloud ended with status 1: ERROR: (gcloud.secrets.versions.access) NOT_FOUND: "
    "Secret [projects/1/secrets/none] not found or has no versions.; "
    "try: gcloud --quiet secrets versions access latest --secret=none",
    "gcp-sm:token --project=x": "expected gcp-sm:NAME or gcp-sm:projects/PROJECT/secrets/NAME",
    "gcp-sm:projects/--x/secrets/a": "expected gcp-sm:NAME or gcp-sm:projects/PROJECT/secrets/NAME",
}  # fmt: skip


@pytest.fixture(autouse=True)
def stand_ins(cli: Cli) -> None:
    cli.stand_in()


@pytest.mark.parametrize(
    ("secrets", "shown", "calls"),
    [
        (_OP, "A=hush\nB=one\ntwo\n\nC=123456\nD=hush\n", 1),
        (_VAULT, "A=hush\nB=5432\nC=quiet\n", 2),
        (_AWS, "A=hush\nB=5432\nC=quiet\nD=quiet\nE=bytes\n", 1),
        ({"C": "aws-sm:prod/token"}, "C=quiet\n", 1),
        (_GCP, "A=hush\nB=1234\n", 2),
    ],
)
def test_values(cli: Cli, secrets: dict[str, str], shown: str, calls: int) -> None:
    """A tool that can read many secrets is called once; each secret is requested once."""
    cli.show(secrets)
    assert cli.run("try", "show") == (0, shown, "")
    assert len(cli.calls()) == calls


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("vault:secret/db", "password=hush\nport=5432\nempty=\n"),
        ("aws-sm:prod/db", "password=hush\nport=5432\nempty=\n"),
    ],
)
def test_a_secret_with_several_values_is_a_file_of_variables(
    cli: Cli, reference: str, shown: str
) -> None:
    cli.show({}, env_files=[reference], names=["password", "port", "empty"])
    assert cli.run("try", "show") == (0, shown, "")


def test_openbao(cli: Cli) -> None:
    cli.show({"A": "bao:secret/db#password", "B": "vault:secret/db#password"})
    assert cli.run("try", "show") == (0, "A=hush\nB=hush\n", "")
    assert sorted(words[0] for words in cli.calls()) == ["bao", "vault"]


def test_more_secrets_than_a_call_of_aws_takes(cli: Cli) -> None:
    names = {f"N{number}": f"aws-sm:none/{number}" for number in range(24)}
    cli.show({"A": "aws-sm:prod/token", **names})
    status, out, err = cli.run("try", "show")
    assert (status, out, err.count("\n")) == (1, "", 24)
    assert (
        "aws-sm:none/23: ResourceNotFoundException: Secrets Manager can't find" in err
    )
    requests = [json.loads(call[-1]) for call in cli.calls()]
    assert [len(request["SecretIdList"]) for request in requests] == [20, 5]


def test_one_line_for_a_failure(cli: Cli) -> None:
    """Also in a run whose other references fail; aws is asked for several in another way."""
    alone = "aws-sm:prod/none"
    for references in ([alone], [each for each in _FAILURES if each != alone]):
        cli.show({f"N{at}": reference for at, reference in enumerate(references)})
        status, out, err = cli.run("try", "show")
        assert (status, out) == (1, "")
        start = f'acme: {cli.folder}/command.json: "secrets.'
        assert sorted(err.splitlines()) == sorted(
            f'{start}N{at}": {reference}: {_FAILURES[reference]}'
            for at, reference in enumerate(references)
        )


def test_op_suggests_the_reference_that_fails(cli: Cli) -> None:
    good, bad = "op://prod/db/password", "op://prod/db/password-2"
    cli.show({"A": good, "B": bad})
    _, _, err = cli.run("try", "show")
    assert err.count(f"; try: op read {bad}\n") == 2
    _, _, err = cli.run("try", "show", STAND_IN_FAULT="fails")
    assert err.count("; try: op whoami\n") == 2


@pytest.mark.parametrize("source", ["caller", "envs", "env_files", "settings"])
def test_nothing_is_asked_if_another_source_gives_the_value(
    cli: Cli, source: str
) -> None:
    definition: dict[str, object] = {}
    if source == "envs":
        definition["envs"] = {"A": "mine"}
    if source == "env_files":
        definition["env_files"] = [".env"]
    cli.show({"A": "op://prod/db/password"}, **definition)
    (cli.folder / ".env").write_text("A=mine\n")
    if source == "settings":
        cli.installed.write({"config/settings.conf": "A=mine\n"})
    env = {"A": "mine"} if source == "caller" else {}
    assert cli.run("try", "show", **env) == (0, "A=mine\n", "")
    assert cli.calls() == []


@pytest.mark.parametrize(
    "words",
    [
        ["try"],
        ["help", "try", "show"],
        ["self", "list"],
        ["self", "env", "try", "show"],
        ["self", "lint"],
        ["self", "doctor"],
    ],
)
def test_only_a_run_asks(cli: Cli, words: list[str]) -> None:
    cli.show({"A": "op://prod/db/password"})
    status, out, err = cli.run(*words)
    assert status == 0
    assert "hush" not in out + err
    assert cli.calls() == []
