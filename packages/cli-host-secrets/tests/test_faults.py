"""Tools that are missing, hang, fail, are killed or print nonsense."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from conftest import Cli

REFERENCES = {
    "op": "op://prod/db/password",
    "vault": "vault:secret/db#password",
    "bao": "bao:secret/db#password",
    "aws": "aws-sm:prod/db#password",
    "gcloud": "gcp-sm:token",
}
_FILES = {"pass": "pass:token", "sops": "sops:a.yaml", "age": "age:a.age"}
_BOTH = REFERENCES | _FILES


def errors(cli: Cli, reference: str, **env: str) -> str:
    """Return the only line of a run that fails."""
    cli.show({"TOKEN": reference})
    for name in ("a.yaml", "a.age"):
        (cli.folder / name).write_text("x\n")
    status, out, err = cli.run("try", "show", **env)
    assert (status, out, err.count("\n")) == (1, "", 1)
    return err.removeprefix(
        f'acme: {cli.folder}/command.json: "secrets.TOKEN": {reference}: '
    )


@pytest.mark.parametrize("program", _BOTH)
def test_missing(cli: Cli, program: str, tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("bash", "env", "python3"):
        program_path = shutil.which(name)
        assert program_path is not None
        (bare / name).symlink_to(program_path)
    text = errors(cli, _BOTH[program], PATH=str(bare))
    assert text.startswith(f"{program} is not on PATH; install it: https://")


@pytest.mark.parametrize("program", REFERENCES)
def test_hang(cli: Cli, program: str) -> None:
    cli.stand_in()
    start = time.monotonic()
    text = errors(
        cli, REFERENCES[program], STAND_IN_FAULT="hang", CLI_SECRETS_TIMEOUT="0.7"
    )
    assert (
        text == "did not answer within 0.7 s; to wait longer, set CLI_SECRETS_TIMEOUT\n"
    )
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("program", REFERENCES)
def test_failure(cli: Cli, program: str) -> None:
    """A long reason is shortened, put on one line, and stripped of control characters."""
    cli.stand_in()
    text = errors(cli, REFERENCES[program], STAND_IN_FAULT="fails")
    assert text.startswith(
        f"{program} ended with status 3: a [31mlong [0m reason word word"
    )
    assert " … word word " in text
    assert f" last words; try: {program} " in text
    assert len(text) < 500


@pytest.mark.parametrize("program", REFERENCES)
def test_killed(cli: Cli, program: str) -> None:
    cli.stand_in()
    text = errors(cli, REFERENCES[program], STAND_IN_FAULT="killed")
    assert text.startswith(f"{program} was killed by signal 9; try: {program} ")


@pytest.mark.parametrize("program", REFERENCES)
def test_noise(cli: Cli, program: str) -> None:
    cli.stand_in()
    cli.show({"TOKEN": REFERENCES[program]})
    assert cli.run("try", "show", STAND_IN_FAULT="noise") == (0, "TOKEN=hush\n", "")


@pytest.mark.parametrize("program", sorted({*REFERENCES} - {"gcloud"}))
def test_nonsense(cli: Cli, program: str) -> None:
    """The error does not show the output, which may be a secret. (gcloud may print any text.)"""
    cli.stand_in()
    text = errors(cli, REFERENCES[program], STAND_IN_FAULT="nonsense")
    said = "op inject did not return the values" if program == "op" else "is not JSON"
    assert said in text
    assert "hush" not in text
