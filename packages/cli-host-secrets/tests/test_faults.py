"""Tools that are missing, hang, fail, are killed or print nonsense."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

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


def errors(cli: Cli, references: dict[str, str], **env: str) -> dict[str, str]:
    """Return the line of each program, whose reference fails in one run of all."""
    cli.show({program.upper(): references[program] for program in references})
    for name in ("a.yaml", "a.age"):
        (cli.folder / name).write_text("x\n")
    status, out, err = cli.run("try", "show", **env)
    assert (status, out) == (1, "")

    found = {}
    for line in err.splitlines(keepends=True):
        for program, reference in references.items():
            start = f'acme: {cli.folder}/command.json: "secrets.{program.upper()}": {reference}: '
            if line.startswith(start):
                found[program] = line.removeprefix(start)
    assert len(found) == err.count("\n") == len(references), err
    return found


def test_missing(cli: Cli, tmp_path: Path) -> None:
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("bash", "env", "python3"):
        program_path = shutil.which(name)
        assert program_path is not None
        (bare / name).symlink_to(program_path)
    for program, text in errors(cli, _BOTH, PATH=str(bare)).items():
        assert text.startswith(f"{program} is not on PATH; install it: https://")


def test_hang(cli: Cli) -> None:
    cli.stand_in()
    start = time.monotonic()
    texts = errors(cli, REFERENCES, STAND_IN_FAULT="hang", CLI_SECRETS_TIMEOUT="0.7")
    assert {*texts.values()} == {
        "did not answer within 0.7 s; to wait longer, set CLI_SECRETS_TIMEOUT\n"
    }
    assert time.monotonic() - start < 30


def test_failure(cli: Cli) -> None:
    """A long reason is shortened, put on one line, and stripped of control characters."""
    cli.stand_in()
    for program, text in errors(cli, REFERENCES, STAND_IN_FAULT="fails").items():
        assert text.startswith(
            f"{program} ended with status 3: a [31mlong [0m reason word word"
        )
        assert " … word word " in text
        assert f" last words; try: {program} " in text
        assert len(text) < 500


def test_killed(cli: Cli) -> None:
    cli.stand_in()
    for program, text in errors(cli, REFERENCES, STAND_IN_FAULT="killed").items():
        assert text.startswith(f"{program} was killed by signal 9; try: {program} ")


def test_noise(cli: Cli) -> None:
    cli.stand_in()
    cli.show({program.upper(): REFERENCES[program] for program in REFERENCES})
    shown = "".join(f"{program.upper()}=hush\n" for program in REFERENCES)
    assert cli.run("try", "show", STAND_IN_FAULT="noise") == (0, shown, "")


def test_nonsense(cli: Cli) -> None:
    """The error does not show the output, which may be a secret. (gcloud may print any text.)"""
    cli.stand_in()
    references = {name: REFERENCES[name] for name in REFERENCES if name != "gcloud"}
    texts = errors(cli, references, STAND_IN_FAULT="nonsense")
    assert "op inject did not return the values" in texts["op"]
    for program, text in texts.items():
        assert program == "op" or "is not JSON" in text
        assert "hush" not in text
